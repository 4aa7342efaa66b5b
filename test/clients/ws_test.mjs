#!/usr/bin/env node
// The relay as the `ws` library sees it: framing, control frames, close codes, extensions.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { finalizeEvent, generateSecretKey } from 'nostr-tools/pure'
import WebSocket from 'ws'

import { runAll, startRelay, test, within } from './harness.mjs'

const relay = await startRelay()
const unknownId = '0'.repeat(64)
const request = JSON.stringify(['REQ', 'é', { ids: [unknownId] }])

async function open(options = {}, url = relay.url) {
  const socket = new WebSocket(url, options)
  socket.messages = []
  socket.waiting = []
  socket.on('message', (data, isBinary) => {
    assert.equal(isBinary, false)
    const message = JSON.parse(data)
    if (message[0] === 'AUTH') return
    const waiting = socket.waiting.shift()
    if (waiting) waiting(message)
    else socket.messages.push(message)
  })
  await within(5000, once(socket, 'open'))
  return socket
}

// The next message that is not AUTH.
function next(socket) {
  if (socket.messages.length) return Promise.resolve(socket.messages.shift())
  return within(5000, new Promise((resolve) => socket.waiting.push(resolve)))
}

async function closeOf(socket) {
  const [code, reason] = await within(8000, once(socket, 'close'))
  return { code, reason: reason.toString() }
}

async function isUsable(socket) {
  socket.send(request)
  assert.deepEqual((await next(socket)).slice(0, 2), ['EOSE', 'é'])
}

test('fragmented messages, also cut within a character', async () => {
  const socket = await open()
  const bytes = Buffer.from(request)
  for (const size of [1, 3, 11, 40]) {
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.subarray(at, at + size)
      socket.send(piece, { binary: false, fin: at + size >= bytes.length })
    }
    assert.deepEqual((await next(socket)).slice(0, 2), ['EOSE', 'é'])
  }
  socket.close()
})

test('pings of the client are answered with their payload', async () => {
  const socket = await open()
  for (const payload of ['', 'otter', 'x'.repeat(125)]) {
    const answered = once(socket, 'pong')
    socket.ping(payload)
    assert.equal((await within(5000, answered))[0].toString(), payload)
  }
  socket.pong('unsolicited')
  await isUsable(socket)
  socket.close()
})

test('a ping between fragments is answered at once', async () => {
  const socket = await open()
  socket.send(request.slice(0, 10), { fin: false })
  const answered = once(socket, 'pong')
  socket.ping('between')
  await within(5000, answered)
  socket.send(request.slice(10), { fin: true })
  assert.deepEqual((await next(socket)).slice(0, 2), ['EOSE', 'é'])
  socket.close()
})

test('close codes come back', async () => {
  for (const code of [1000, 1001, 3000, 4999]) {
    const socket = await open()
    socket.close(code, 'bye')
    assert.equal((await closeOf(socket)).code, code)
  }
  const socket = await open()
  socket.close()
  assert.equal((await closeOf(socket)).code, 1005)
})

test('a binary message gets a NOTICE, the connection stays', async () => {
  const socket = await open()
  socket.send(Buffer.from(request), { binary: true })
  assert.match((await next(socket)).join(), /^NOTICE,invalid: /)
  await isUsable(socket)
  socket.close()
})

test('text that is not UTF-8 closes with 1007', async () => {
  const socket = await open()
  socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })
  assert.equal((await closeOf(socket)).code, 1007)
})

test('a message above the limit closes with 1009', async () => {
  const answer = await fetch(relay.url.replace('ws:', 'http:'), {
    headers: { accept: 'application/nostr+json' },
  })
  const limit = (await answer.json()).limitation.max_message_length
  const socket = await open()
  socket.send(request + ' '.repeat(limit - Buffer.byteLength(request)))
  assert.deepEqual((await next(socket)).slice(0, 2), ['EOSE', 'é'])
  socket.send(' '.repeat(limit + 1))
  assert.equal((await closeOf(socket)).code, 1009)
})

test('an unmasked frame closes with 1002', async () => {
  const socket = await open()
  socket.send(request, { mask: false })
  assert.equal((await closeOf(socket)).code, 1002)
})

test('permessage-deflate is not taken unless the relay has it on', async () => {
  const socket = await open({ perMessageDeflate: true })
  assert.equal(socket.extensions, '')
  await isUsable(socket)
  socket.close()
})

test('compressed messages both ways, with every setting that ws can offer', async () => {
  const second = await startRelay({ 'net.deflate': true })
  const author = generateSecretKey()
  const events = ['', 'é😀 '.repeat(400), 'much the same, again and again '.repeat(1000)].map(
    (content, n) =>
      finalizeEvent({ kind: 1, created_at: 1767225600 + n, tags: [], content }, author),
  )
  const offers = [
    true,
    { threshold: 0 },
    { serverNoContextTakeover: true, clientNoContextTakeover: true },
    { serverMaxWindowBits: 10 },
    { clientMaxWindowBits: 9, threshold: 0, zlibDeflateOptions: { level: 9 } },
  ]
  const sockets = []
  for (const perMessageDeflate of offers) {
    const socket = await open({ perMessageDeflate }, second.url)
    assert.match(socket.extensions, /^permessage-deflate/)
    socket.send(JSON.stringify(['REQ', 'live', { authors: [events[0].pubkey] }]))
    assert.deepEqual((await next(socket)).slice(0, 2), ['EOSE', 'live'])
    sockets.push(socket)
  }
  const publisher = await open({ perMessageDeflate: { threshold: 0 } }, second.url)
  for (const event of events) {
    publisher.send(JSON.stringify(['EVENT', event]))
    assert.deepEqual((await next(publisher)).slice(0, 3), ['OK', event.id, true])
  }
  for (const socket of sockets) {
    for (const event of events) {
      assert.deepEqual(await next(socket), ['EVENT', 'live', JSON.parse(JSON.stringify(event))])
    }
    socket.close()
  }
  publisher.close()
  assert.equal(await second.stop(), 0)
})

test('no subprotocol is selected', async () => {
  const socket = new WebSocket(relay.url, ['nostr'])
  // RFC 6455 leaves the choice to the server; this client ends when nothing is chosen.
  const [error] = await within(5000, once(socket, 'error'))
  assert.match(error.message, /no subprotocol/i)
})

test('another path is refused with 404', async () => {
  const socket = new WebSocket(`${relay.url}/elsewhere`)
  const [, response] = await within(5000, once(socket, 'unexpected-response'))
  assert.equal(response.statusCode, 404)
  response.destroy()
})

test('a drain closes with 1001', async () => {
  const second = await startRelay()
  const socket = await open({}, second.url)
  const closed = closeOf(socket)
  assert.equal(await second.stop(), 0)
  assert.equal((await closed).code, 1001)
})

await runAll()
if ((await relay.stop()) !== 0) process.exitCode = 1
process.exit()
