import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { JavaHostPool } from '../../src/java/java-host-pool.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Stand-in for the `java` executable, which writes the file `pid`. On a request to stop, it creates the file `stopping`, and exits when the file `exit` exists. */
const FAKE_JAVA = `#!${process.execPath}
const { existsSync, rmSync, writeFileSync } = require('node:fs')
const [socket, directory] = process.argv.slice(-2)
let input = ''
process.stdin.on('data', (text) => {
  input += text
  if (!input.includes('stop')) return
  writeFileSync(directory + '/stopping', '')
  setInterval(() => {
    if (!existsSync(directory + '/exit')) return
    rmSync(socket)
    process.exit()
  }, 5)
})
writeFileSync(directory + '/pid', String(process.pid))
writeFileSync(socket, '')
console.log(JSON.stringify({ level: 'info', logger: 'dev.weir.host', message: 'listening' }))
`

function openPool() {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'bin'))
  writeFileSync(join(directory, 'bin', 'java'), FAKE_JAVA, { mode: 0o755 })
  writeFileSync(join(directory, 'weir-java-host.jar'), '')
  const log = { linesPerSecond: 100, bytesPerSecond: 65_536 }
  const pool = new JavaHostPool({
    runtime: { home: directory, hostDirectory: directory, heapMax: '64m', options: [], log },
    idleMs: 0,
    startMsMax: 60_000,
    onLog: () => undefined,
    logLevels: { current: () => [], onChange: () => undefined },
  })
  const exit = () => writeFileSync(join(directory, 'exit'), '')
  onTestFinished(() => {
    exit()
    return pool.close()
  })
  return { pool, directory, exit }
}

it('starts a JVM again only after the one before has removed its socket', { tags: ['slow'] }, async () => {
  const { pool, directory, exit } = openPool()
  const location = { path: directory, jars: [] }
  const first = await pool.lease(location)
  const { socketPath } = first.address
  first.release()
  await vi.waitUntil(() => existsSync(join(directory, 'stopping')), { timeout: 25_000 })
  const second = pool.lease(location)
  await nextTurn()
  expect(existsSync(socketPath)).toBe(true)
  exit()
  await second
  expect(existsSync(socketPath)).toBe(true)
})

it('counts the JVMs that end while they are used, and no others', { tags: ['slow'] }, async () => {
  const { pool, directory, exit } = openPool()
  const location = { path: directory, jars: [] }
  const unused = await pool.lease(location)
  exit()
  unused.release()
  await unused.ended
  expect(pool.exits).toBe(0)
  const used = await pool.lease(location)
  process.kill(Number(readFileSync(join(directory, 'pid'), 'utf8')), 'SIGKILL')
  await used.ended
  await vi.waitUntil(() => pool.exits === 1, { timeout: 25_000 })
})
