import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { withDebian } from './debian.ts'
import type { Container, ContainerOptions } from './image.ts'
import type { ImageConfig } from './image-config.ts'
import { run, startServer, untilReady } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { partDirectory } from './workspace.ts'

const STOP_MS = 10_000
const READY_TIMEOUT_MS = 180_000

type Bundle = ContainerOptions & {
  readonly config: ImageConfig
  /** Folder of the unpacked packages with runc. */
  readonly debian: string
  /** A shell command that mounts the files of the image and prints the mount point. */
  readonly mount: string
}

/** Starts a container with runc, the program that container engines use. */
export async function startRunc({ debian, mount, ...options }: Bundle): Promise<Container> {
  const directory = partDirectory('container')
  // Also the name of the control group, which two containers that run at the same time must not share.
  const id = `weir-${process.pid}-${basename(directory)}`
  const file = (name: string) => join(directory, name)
  mkdirSync(file('rootfs'))
  writeFileSync(file('config.json'), JSON.stringify(specOf(options)))
  const runc = (...args: readonly string[]) =>
    withDebian(debian, { file: 'runc', args: ['--root', file('state'), ...args], directory })
  const script = `mount --bind "$(${mount})" rootfs && exec runc --root state run ${id}`
  const server = startServer(withDebian(debian, { file: 'sh', args: ['-ec', script], directory }), file('output.log'))
  const what = { what: 'the container', logFiles: [file('output.log')], timeoutMs: READY_TIMEOUT_MS }
  await untilReady(server, what, async () => (await run(runc('state', id))).stdout.includes('"running"'))
  return {
    exec: (command) => run(runc('exec', id, ...command)),
    output: async () => readFileSync(file('output.log'), 'utf8'),
    async stop() {
      // runc forwards the signal and exits with the exit code of the program.
      const code = await server.end(STOP_MS)
      await run(runc('delete', '--force', id))
      removeDirectory(directory)
      return code
    },
  }
}

/** See https://github.com/opencontainers/runtime-spec. Its rights match the `restricted` Pod Security Standard. */
function specOf({
  config,
  args,
  writable,
  hidden,
  mounted = [],
}: Pick<Bundle, 'config' | keyof ContainerOptions>): object {
  const [uid, gid = uid] = config.user.split(':').map(Number)
  const folder = (destination: string, options: readonly string[]) => ({
    ...{ destination, type: 'tmpfs', source: 'tmpfs' },
    options: ['nosuid', 'nodev', ...options],
  })
  const system = (destination: string, type: string, options: readonly string[]) => ({
    ...{ destination, type, source: type },
    options: ['nosuid', 'noexec', ...options],
  })
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...config.entrypoint, ...args],
      env: config.env,
      cwd: config.workingDirectory,
      noNewPrivileges: true,
      capabilities: {},
    },
    root: { path: 'rootfs', readonly: true },
    mounts: [
      system('/proc', 'proc', ['nodev']),
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'strictatime', 'mode=755'] },
      ...writable.map((path) => folder(path, ['rw', `uid=${uid}`, `gid=${gid}`, 'mode=700'])),
      ...hidden.map((path) => folder(path, ['ro'])),
      ...mounted.map(({ from, to }) => ({ destination: to, type: 'bind', source: from, options: ['bind', 'ro'] })),
    ],
    linux: { namespaces: ['pid', 'ipc', 'uts', 'mount', 'network'].map((type) => ({ type })) },
  }
}
