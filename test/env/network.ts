import { readFileSync } from 'node:fs'
import type { Server as Door } from 'node:net'
import { join } from 'node:path'
import { forward } from './forwarder.ts'
import { freePort } from './ports.ts'
import { type Command, type Server, startServer, untilReady } from './process.ts'
import { partDirectory } from './workspace.ts'

/**
 * A network namespace without an interface to the network of the machine. Connections are forwarded in both directions
 * through Unix sockets, so the network configuration of the machine is not changed.
 */
export type Network = {
  /** Id of a process in it. */
  readonly pid: number
  /** Wraps a command so that it runs in the namespace. */
  inside(command: Command): Command
  /** Makes the server at `127.0.0.1:port` of this machine available in the namespace. Returns its address there. */
  offer(port: number): Promise<string>
  /** Returns a port of 127.0.0.1 that is forwarded to `host:port` in the namespace. */
  reach(place: string): Promise<number>
  stop(): Promise<void>
}

export type NetworkOptions = {
  /** A command that keeps the namespace alive. It prints `ready` when the addresses are configured. */
  readonly holder: Command
  /** Further arguments of `nsenter`. */
  readonly entering?: readonly string[]
  readonly address: string
}

const READY_TIMEOUT_MS = 180_000
const FORWARDER = join(import.meta.dirname, 'forwarder.ts')

export async function startNetwork({ holder, entering = [], address }: NetworkOptions): Promise<Network> {
  const directory = partDirectory('network')
  const servers: Server[] = []
  const doors: Door[] = []
  let sockets = 0
  const start = async (name: string, command: Command): Promise<Server> => {
    const logFile = join(directory, `${name}.log`)
    const server = startServer(command, logFile)
    servers.unshift(server)
    const options = { what: name, logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
    await untilReady(server, options, () => readFileSync(logFile, 'utf8').includes('ready'))
    return server
  }
  const { pid = 0 } = await start('network', holder)
  const inside = (command: Command): Command => ({
    ...command,
    file: 'nsenter',
    args: ['--target', String(pid), '--net', ...entering, command.file, ...command.args],
  })
  const forwardInside = async (from: string, to: string) => {
    await start(`door-${servers.length}`, inside({ file: process.execPath, args: [FORWARDER, from, to], directory }))
  }
  const socket = () => join(directory, `${sockets++}.sock`)
  return {
    pid,
    inside,
    async offer(port) {
      const [path, place] = [socket(), `${address}:${port}`]
      doors.push(await forward(path, `127.0.0.1:${port}`))
      await forwardInside(place, path)
      return place
    },
    async reach(place) {
      const [path, port] = [socket(), await freePort()]
      await forwardInside(path, place)
      doors.push(await forward(`127.0.0.1:${port}`, path))
      return port
    },
    async stop() {
      for (const door of doors) door.close()
      for (const server of servers) await server.kill()
    },
  }
}
