// What both client tests share: one relay process on a free port, cases, and their report.
//
// Output: `ok NAME` or `not ok NAME - why` for each case, then `N passed, M failed`; the exit code
// is 1 if a case failed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

function gyrePath() {
  const at = process.argv.indexOf('--gyre')
  return at > 0 ? process.argv[at + 1] : join(repository, 'build', 'release', 'gyre')
}

// Starts a relay whose own URL is the one it is reached by. Resolves to { url, stop }.
export async function startRelay(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gyre-clients-'))
  const all = {
    'net.listen': '127.0.0.1:0',
    'relay.shards': 2,
    'store.path': join(folder, 'store'),
    ...settings,
  }
  const options = Object.entries(all).flatMap(([key, value]) => [
    '--set',
    `${key}=${JSON.stringify(value)}`,
  ])
  const relay = spawn(gyrePath(), ['relay', ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(relay, 'exit')
  let address
  for await (const line of createInterface({ input: relay.stdout })) {
    address = /^listening on (.+)$/.exec(line)?.[1]
    if (address) break
  }
  if (!address) throw new Error('the relay did not start')
  const stop = async () => {
    relay.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
    return relay.exitCode
  }
  return { url: `ws://${address}`, stop }
}

const cases = []

export function test(name, run) {
  cases.push({ name, run })
}

export async function runAll() {
  let failed = 0
  for (const { name, run } of cases) {
    try {
      await within(20000, run(), 'the case')
      console.log(`ok ${name}`)
    } catch (error) {
      failed += 1
      console.log(`not ok ${name} - ${String(error?.message ?? error).replaceAll('\n', ' ')}`)
    }
  }
  console.log(`${cases.length - failed} passed, ${failed} failed`)
  process.exitCode = failed ? 1 : 0
}

// Rejects if the promise is not settled in time.
export function within(milliseconds, promise, what = 'an answer') {
  let timer
  const late = new Promise((_, reject) => {
    const error = new Error(`${what} took over ${milliseconds} ms`)
    timer = setTimeout(() => reject(error), milliseconds)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
