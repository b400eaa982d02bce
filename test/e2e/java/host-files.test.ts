import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hostAddress, JavaHost } from '../../../src/java/java-host.ts'
import { describeOn, real } from '../../env/real.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'

const javaHost = await real('javaHost')

const WAIT = { everyMs: 20, timeoutMs: 120_000 }

/** Starts a host as a worker does. Returns a function that ends its standard input with a last line, and waits for its exit. */
async function startHost(socket: string): Promise<(line?: string) => Promise<number>> {
  const classpath = join(javaHost.address.directory, '*')
  const args = [
    '-XX:+UseSerialGC',
    '-Xmx64m',
    '-cp',
    classpath,
    'dev.weir.host.Main',
    socket,
    javaHost.address.jars.file,
  ]
  const host = spawn('java', args, { stdio: ['pipe', 'ignore', 'inherit'] })
  const exited = once(host, 'exit')
  host.stdin.write('a token\nINFO root\n\n')
  await until('the socket', WAIT, () => existsSync(socket))
  return async (line) => {
    host.stdin.end(line)
    const [code] = await exited
    return code as number
  }
}

describeOn([javaHost], 'the JVMs of a worker', () => {
  it('each remove their socket when they end, and the last one the directory of the sockets if the worker was killed', async () => {
    const directory = join(temporaryDirectory(), 'sockets')
    mkdirSync(directory, { mode: 0o700 })
    const stopped = await startHost(join(directory, 'stopped'))
    expect(await stopped('DEBUG root\n\nstop\n')).toBe(0)
    expect(readdirSync(directory)).toEqual([])
    const [first, last] = await Promise.all(['first', 'last'].map((name) => startHost(join(directory, name))))
    expect(await first!()).toBe(0)
    expect(readdirSync(directory)).toEqual(['last'])
    expect(await last!('ERROR root\n\n')).toBe(0)
    expect(existsSync(directory)).toBe(false)
  })

  it('start again at the same address after their worker has stopped them', async () => {
    const directory = join(temporaryDirectory(), 'sockets')
    mkdirSync(directory, { mode: 0o700 })
    const options = {
      runtime: {
        home: '',
        hostDirectory: javaHost.address.directory,
        heapMax: '64m',
        options: [],
        log: { linesPerSecond: 100, bytesPerSecond: 65_536 },
      },
      location: { path: javaHost.address.jars.file, jars: [] },
      address: hostAddress(directory, '0'),
      startMsMax: 120_000,
      onLog: () => undefined,
    }
    for (let start = 0; start < 2; start++) {
      const host = await JavaHost.start(options)
      expect(readdirSync(directory)).toEqual(['0.sock'])
      await host.stop()
      expect(readdirSync(directory)).toEqual([])
    }
  })
})
