import { readFileSync } from 'node:fs'
import type { Server as Door } from 'node:net'
import { join } from 'node:path'
import { withDebian } from './debian.ts'
import { forward } from './forwarder.ts'
import { NODE_IP } from './node-machine.ts'
import { freePort } from './ports.ts'
import { type Command, type Server, startServer, untilReady } from './process.ts'
import { partDirectory } from './workspace.ts'

const READY_TIMEOUT_MS = 60_000
const FORWARDER = join(import.meta.dirname, 'forwarder.ts')

/**
 * A network namespace that no interface joins with the machine's: sockets in the file system do, by which connections are
 * handed on in both directions. So nothing of the machine's own network is touched.
 */
export type NodeNetwork = {
  /** Of a process in it. */
  readonly pid: number
  /** A command as it is called in it. */
  inside(command: Command): Command
  /** Where it finds a server of this machine that listens at `127.0.0.1:port`. */
  offer(port: number): Promise<string>
  /** A port of 127.0.0.1 that leads to `host:port` of it. */
  reach(place: string): Promise<number>
  stop(): Promise<void>
}

export async function startNodeNetwork(debian: string): Promise<NodeNetwork> {
  const directory = partDirectory('network')
  const servers: Server[] = []
  const doors: Door[] = []
  const start = async (name: string, command: Command): Promise<Server> => {
    const logFile = join(directory, `${name}.log`)
    const server = startServer(command, logFile)
    servers.unshift(server)
    const options = { what: name, logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
    await untilReady(server, options, () => readFileSync(logFile, 'utf8').includes('ready'))
    return server
  }
  const script = `
    ip link set lo up
    ip link add node0 type bridge && ip addr add ${NODE_IP}/24 dev node0 && ip link set node0 up
    ip route add default dev node0
    echo 1 >/proc/sys/net/ipv4/ip_forward
    echo ready
    exec sleep infinity`
  const holder = withDebian(debian, { file: 'sh', args: ['-ec', script], directory }, ['--net'])
  const { pid = 0 } = await start('network', holder)
  const inside = (command: Command): Command => ({
    ...command,
    file: 'nsenter',
    args: ['--target', String(pid), '--net', command.file, ...command.args],
  })
  const there = async (from: string, to: string) => {
    const command = { file: process.execPath, args: [FORWARDER, from, to], directory }
    await start(`door-${servers.length}`, inside(command))
  }
  const socket = () => join(directory, `door-${servers.length}.sock`)
  return {
    pid,
    inside,
    async offer(port) {
      const path = socket()
      doors.push(await forward(path, `127.0.0.1:${port}`))
      await there(`${NODE_IP}:${port}`, path)
      return `${NODE_IP}:${port}`
    },
    async reach(place) {
      const [path, port] = [socket(), await freePort()]
      await there(path, place)
      doors.push(await forward(`127.0.0.1:${port}`, path))
      return port
    },
    async stop() {
      for (const door of doors) door.close()
      for (const server of servers) await server.kill()
    },
  }
}
