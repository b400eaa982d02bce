import { mkdirSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Network, startNetwork } from '../env/network.ts'
import { type Server, startServer } from '../env/process.ts'
import type { SandboxAddress } from '../env/sandbox.ts'
import { partDirectory } from '../env/workspace.ts'

/** The definition of a container. */
export type Container = {
  readonly name: string
  readonly command: readonly string[]
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>
  /** Folders of this machine, mounted at `path`. */
  readonly mounts: readonly { readonly path: string; readonly folder: string; readonly readOnly: boolean }[]
  /** Host names that resolve to this sandbox. */
  readonly hosts: readonly string[]
  readonly user: number
}

/** A network namespace with only a loopback interface, and the processes in it. */
export type Sandbox = Pick<Network, 'offer' | 'stop'> & {
  /** Sends a GET request to a server in it. */
  ask(
    port: number,
    path: string,
    scheme?: 'HTTP' | 'HTTPS',
  ): Promise<{ readonly status: number; readonly body: string }>
  start(container: Container): Server & { readonly logFile: string }
}

const ROOT = join(import.meta.dirname, '../..')
/** Directories of the machine that Node needs. */
const SYSTEM = ['usr', 'bin', 'lib', 'lib64', 'dev', 'proc']

export async function startSandbox({ namespaces, isPrivileged }: SandboxAddress): Promise<Sandbox> {
  const idle = 'ip link set lo up && echo ready && exec sleep infinity'
  const network = await startNetwork({
    holder: { file: 'unshare', args: [...namespaces, 'sh', '-ec', idle], directory: '/' },
    entering: isPrivileged ? [] : ['--user', '--preserve-credentials'],
    address: '127.0.0.1',
  })
  const containers: Server[] = []
  const ways = new Map<number, Promise<number>>()
  return {
    offer: network.offer,
    async ask(port, path, scheme = 'HTTP') {
      const way = ways.get(port) ?? network.reach(`127.0.0.1:${port}`)
      ways.set(port, way)
      const target = { host: '127.0.0.1', port: await way, path }
      return new Promise((resolve, reject) => {
        // Accepts any certificate, as a kubelet does.
        const options = { ...target, timeout: 5_000, rejectUnauthorized: false }
        const request = scheme === 'HTTPS' ? requestTls : requestPlain
        const sent = request(options, (response) => {
          text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
        })
        sent.once('timeout', () => sent.destroy(new Error('no answer')))
        sent.once('error', reject)
        sent.end()
      })
    },
    start(container) {
      const own = partDirectory(container.name)
      const logFile = join(own, 'output.log')
      const shell = ['sh', '-ec', script(container, join(own, 'root'))]
      const args = ['--mount', '--propagation', 'private', ...shell]
      const server = startServer(network.inside({ file: 'unshare', args, directory: own }), logFile)
      containers.unshift(server)
      return { ...server, logFile }
    },
    async stop() {
      for (const container of containers) await container.kill()
      await network.stop()
    },
  }

  /** A script that creates a read-only root with the container's mounts, then runs its command as its user. */
  function script({ command, env, mounts, hosts, user }: Container, root: string): string {
    const into = (path: string) => `'${join(root, path)}'`
    mkdirSync(root)
    const binds = mounts.map(({ path, folder, readOnly }) => [
      `mkdir -p ${into(path)}`,
      `mount --bind '${folder}' ${into(path)}`,
      ...(readOnly ? [`mount -o remount,bind,ro ${into(path)}`] : [`chown ${user}:${user} ${into(path)} || true`]),
    ])
    const assigned = Object.entries(env).map(([key, value]) => quoted(`${key}=${value}`))
    const as = isPrivileged
      ? `/usr/bin/setpriv --reuid ${user} --regid ${user} --clear-groups --inh-caps=-all --no-new-privs`
      : ''
    return [
      `mount -t tmpfs none '${root}'`,
      ...SYSTEM.map((path) => `if [ -d /${path} ]; then mkdir ${into(path)}; mount --rbind /${path} ${into(path)}; fi`),
      `mkdir -p ${into('etc')}`,
      `echo 127.0.0.1 localhost ${hosts.join(' ')} >${into('etc/hosts')}`,
      `echo hosts: files >${into('etc/nsswitch.conf')}`,
      ...binds.flat(),
      // Mounted after the volumes: the checkout may be in /tmp, where a container has a volume.
      `mkdir -p ${into(ROOT)}`,
      `mount --rbind '${ROOT}' ${into(ROOT)}`,
      `mount -o remount,ro '${root}'`,
      `exec chroot '${root}' /usr/bin/env -i ${as} ${assigned.length === 0 ? '' : `/usr/bin/env ${assigned.join(' ')}`} ${command.map(quoted).join(' ')}`,
    ].join('\n')
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
