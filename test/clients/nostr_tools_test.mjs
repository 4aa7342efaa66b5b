#!/usr/bin/env node
// The relay as clients built on nostr-tools use it.

import assert from 'node:assert/strict'
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { SimplePool, useWebSocketImplementation as usePoolWebSocket } from 'nostr-tools/pool'
import { Relay, useWebSocketImplementation as useRelayWebSocket } from 'nostr-tools/relay'
import * as nip11 from 'nostr-tools/nip11'
import * as nip59 from 'nostr-tools/nip59'
import WebSocket from 'ws'

import { pause, runAll, startRelay, test, within } from './harness.mjs'

usePoolWebSocket(WebSocket)
useRelayWebSocket(WebSocket)

const relay = await startRelay()
const now = () => Math.floor(Date.now() / 1000)

class Author {
  secret = generateSecretKey()
  pubkey = getPublicKey(this.secret)

  // The signed event; members given replace the defaults.
  sign(members = {}) {
    const template = { kind: 1, created_at: now(), tags: [], content: '', ...members }
    return finalizeEvent(template, this.secret)
  }
}

const connect = () => Relay.connect(relay.url)

// The stored events that a filter selects, in the order they came.
function query(client, ...filters) {
  return within(
    5000,
    new Promise((resolve, reject) => {
      const events = []
      const subscription = client.subscribe(filters, {
        onevent: (event) => events.push(event),
        oneose: () => {
          resolve(events)
          subscription.close()
        },
        onclose: (reason) => reject(new Error(reason)),
      })
    }),
  )
}

// Waits until the subscription is past EOSE; `events` fills with what is live.
function listen(client, filters) {
  const events = []
  const opened = new Promise((resolve, reject) => {
    client.subscribe(filters, {
      onevent: (event) => events.push(event),
      oneose: () => resolve(events),
      onclose: (reason) => reject(new Error(reason)),
    })
  })
  return within(5000, opened)
}

async function until(condition) {
  for (let tries = 0; !condition(); tries += 1) {
    assert.ok(tries < 100, 'did not happen within two seconds')
    await pause(20)
  }
}

const ids = (events) => events.map((event) => event.id)
const plain = (event) => JSON.parse(JSON.stringify(event))

test('publish and read back by each member of a filter', async () => {
  const client = await connect()
  const [author, friend] = [new Author(), new Author()]
  const first = author.sign({ created_at: now() - 20, content: 'első "é" \\ \n 😀' })
  const second = author.sign({
    created_at: now() - 10,
    kind: 1111,
    tags: [['e', first.id, '', 'root'], ['p', friend.pubkey], ['t', 'reef'], ['K', '1']],
  })
  await client.publish(first)
  await client.publish(second)
  const authors = [author.pubkey]
  for (const [filter, right] of [
    [{ ids: [first.id] }, [first]],
    [{ authors }, [second, first]],
    [{ authors, kinds: [1] }, [first]],
    [{ '#e': [first.id] }, [second]],
    [{ '#p': [friend.pubkey] }, [second]],
    [{ authors, '#t': ['reef', 'other'] }, [second]],
    [{ authors, '#K': ['1'] }, [second]],
    [{ authors, since: second.created_at }, [second]],
    [{ authors, until: first.created_at }, [first]],
    [{ authors, limit: 1 }, [second]],
    [{ authors, kinds: [7] }, []],
  ]) {
    const found = (await query(client, filter)).map(plain)
    assert.deepEqual(found, right.map(plain), JSON.stringify(filter))
  }
  const both = await query(client, { ids: [first.id] }, { ids: [second.id] })
  assert.deepEqual(ids(both), [second.id, first.id])
  client.close()
})

test('live delivery on another connection, in order', async () => {
  const [writer, reader] = [await connect(), await connect()]
  const author = new Author()
  const events = await listen(reader, [{ authors: [author.pubkey] }])
  const sent = [1, 2, 3].map((n) => author.sign({ content: `${n}` }))
  for (const event of sent) await writer.publish(event)
  await until(() => events.length === 3)
  assert.deepEqual(ids(events), ids(sent))
  writer.close()
  reader.close()
})

test('COUNT', async () => {
  const client = await connect()
  const author = new Author()
  for (let n = 0; n < 4; n += 1) await client.publish(author.sign({ content: `${n}` }))
  assert.equal(await within(5000, client.count([{ authors: [author.pubkey] }], {})), 4)
  assert.equal(await within(5000, client.count([{ authors: [author.pubkey], kinds: [9] }], {})), 0)
  client.close()
})

test('a duplicate is told, a forged event is refused', async () => {
  const client = await connect()
  const event = new Author().sign()
  await client.publish(event)
  assert.match(await client.publish(event), /^duplicate: /)
  const forged = { ...plain(new Author().sign()), content: 'changed' }
  await assert.rejects(client.publish(forged), /^Error: invalid: /)
  client.close()
})

test('a deleted event is gone and stays out', async () => {
  const client = await connect()
  const author = new Author()
  const event = author.sign()
  await client.publish(event)
  const request = author.sign({ kind: 5, tags: [['e', event.id]] })
  await client.publish(request)
  assert.deepEqual(ids(await query(client, { authors: [author.pubkey] })), [request.id])
  await assert.rejects(client.publish(event), /blocked: /)
  client.close()
})

test('of a replaceable and an addressable event the newest version remains', async () => {
  const client = await connect()
  const author = new Author()
  for (const [kind, tags] of [[0, []], [10002, [['r', relay.url]]], [30023, [['d', 'post']]]]) {
    const [old, fresh] = [30, 10].map((age) => author.sign({ kind, tags, created_at: now() - age }))
    await client.publish(old)
    await client.publish(fresh)
    const found = await query(client, { authors: [author.pubkey], kinds: [kind] })
    assert.deepEqual(ids(found), [fresh.id])
    const late = author.sign({ kind, tags, created_at: now() - 20 })
    await assert.rejects(client.publish(late), /duplicate: /)
  }
  client.close()
})

test('an ephemeral event is delivered and not kept', async () => {
  const [writer, reader] = [await connect(), await connect()]
  const author = new Author()
  const events = await listen(reader, [{ authors: [author.pubkey] }])
  const event = author.sign({ kind: 20001, content: 'passing' })
  await writer.publish(event)
  await until(() => events.length === 1)
  assert.deepEqual(await query(writer, { authors: [author.pubkey] }), [])
  writer.close()
  reader.close()
})

test('NIP-42: gift wraps are read by their recipient after a login only', async () => {
  const [sender, recipient, stranger] = [new Author(), new Author(), new Author()]
  const writer = await connect()
  const message = { kind: 14, content: 'secret', tags: [] }
  const wrap = nip59.wrapEvent(message, sender.secret, recipient.pubkey)
  await writer.publish(wrap)
  const filter = { kinds: [1059], '#p': [recipient.pubkey] }
  await assert.rejects(query(writer, filter), /auth-required: /)
  for (const [reader, right] of [[recipient, [wrap.id]], [stranger, []]]) {
    const client = await connect()
    await pause(50) // The challenge comes with the first message of the relay.
    await client.auth((event) => finalizeEvent(event, reader.secret))
    assert.deepEqual(ids(await query(client, filter)), right)
    client.close()
  }
  const client = await connect()
  await pause(50)
  await client.auth((event) => finalizeEvent(event, recipient.secret))
  const [found] = await query(client, filter)
  assert.equal(nip59.unwrapEvent(found, recipient.secret).content, 'secret')
  client.close()
  writer.close()
})

test('NIP-70: a protected event is taken from its author alone', async () => {
  const author = new Author()
  const event = author.sign({ tags: [['-']] })
  const client = await connect()
  await assert.rejects(client.publish(event), /auth-required: /)
  await client.auth((template) => finalizeEvent(template, author.secret))
  await client.publish(event)
  client.close()
})

test('SimplePool: publish, get, query and subscribe', async () => {
  const pool = new SimplePool()
  const author = new Author()
  const events = [20, 10].map((age) => author.sign({ created_at: now() - age }))
  for (const event of events) await Promise.all(pool.publish([relay.url], event))
  const filter = { authors: [author.pubkey] }
  assert.equal((await pool.get([relay.url], { ids: [events[0].id] })).id, events[0].id)
  assert.deepEqual(ids(await pool.querySync([relay.url], filter)), ids(events.reverse()))
  const live = []
  await within(
    5000,
    new Promise((resolve) => {
      const onevent = (event) => live.push(event)
      pool.subscribe([relay.url], { ...filter, limit: 0 }, { onevent, oneose: resolve })
    }),
  )
  const fresh = author.sign({ content: 'live' })
  await Promise.all(pool.publish([relay.url], fresh))
  await until(() => live.length === 1)
  assert.equal(live[0].id, fresh.id)
  pool.close([relay.url])
})

test('SimplePool logs in by itself when a publication demands it', async () => {
  const author = new Author()
  const pool = new SimplePool()
  const event = author.sign({ tags: [['-']] })
  const onauth = (template) => Promise.resolve(finalizeEvent(template, author.secret))
  await Promise.all(pool.publish([relay.url], event, { onauth }))
  assert.equal((await pool.get([relay.url], { ids: [event.id] })).id, event.id)
  pool.close([relay.url])
})

test('fifteen clients at once', async () => {
  const author = new Author()
  const clients = await Promise.all(Array.from({ length: 15 }, connect))
  const filters = [{ authors: [author.pubkey] }]
  const heard = await Promise.all(clients.map((client) => listen(client, filters)))
  const sent = clients.map((_, n) => author.sign({ content: `${n}` }))
  await Promise.all(clients.map((client, n) => client.publish(sent[n])))
  await until(() => heard.every((events) => events.length === 15))
  for (const events of heard) assert.deepEqual(ids(events).sort(), ids(sent).sort())
  for (const client of clients) client.close()
})

test('NIP-11 by nostr-tools', async () => {
  nip11.useFetchImplementation(fetch)
  const document = await nip11.fetchRelayInformation(relay.url)
  assert.ok(document.supported_nips.includes(1))
  assert.equal(typeof document.limitation.max_message_length, 'number')
})

await runAll()
if ((await relay.stop()) !== 0) process.exitCode = 1
process.exit()
