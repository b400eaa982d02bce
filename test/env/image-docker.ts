import { join } from 'node:path'
import { must } from './debian.ts'
import type { ImageWay } from './image.ts'
import { type DockerConfig, imageReference, toImageConfig } from './image-config.ts'
import { run } from './process.ts'

const ROOT = join(import.meta.dirname, '../..')
const STOP_S = 10
const RIGHTS = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--network', 'none']

/** Builds and runs images with the `docker` command line. */
export const imageByDocker: ImageWay = {
  async find() {
    const info = await run({ file: 'docker', args: ['info'], directory: '.' }).catch(() => undefined)
    if (info?.code !== 0) return { how: 'missing', detail: 'no Docker engine answers' }
    return { how: 'docker', detail: 'docker build', cached: false }
  },
  async build(options) {
    const { version, architecture, target } = options
    const reference = imageReference(options)
    const platform = architecture === undefined ? [] : ['--platform', `linux/${architecture}`]
    const stage = target === undefined ? [] : ['--target', target]
    await docker('build', ...platform, ...stage, '--build-arg', `VERSION=${version}`, '--tag', reference, ROOT)
    const config = await docker('image', 'inspect', '--format', '{{json .Config}}', reference)
    return { reference, config: toImageConfig(JSON.parse(config) as DockerConfig) }
  },
  async start({ reference }, { args, writable, hidden, mounted = [] }) {
    const folders = [...writable.map((path) => `${path}:rw,uid=65532,gid=65532`), ...hidden.map((path) => `${path}:ro`)]
    const volumes = mounted.flatMap(({ from, to }) => ['--volume', `${from}:${to}:ro`])
    const mounts = [...folders.flatMap((folder) => ['--tmpfs', folder]), ...volumes]
    const id = (await docker('run', '--detach', ...RIGHTS, ...mounts, reference, ...args)).trim()
    return {
      exec: (command) => run({ file: 'docker', args: ['exec', id, ...command], directory: '.' }),
      async output() {
        const { stdout, stderr } = await run({ file: 'docker', args: ['logs', id], directory: '.' })
        return stdout + stderr
      },
      async stop() {
        await docker('stop', '--time', String(STOP_S), id)
        const code = Number(await docker('inspect', '--format', '{{.State.ExitCode}}', id))
        await docker('rm', id)
        return code
      },
    }
  },
  save: async ({ reference }, file) => void (await docker('save', '--output', file, reference)),
}

function docker(...args: readonly string[]): Promise<string> {
  return must({ file: 'docker', args, directory: '.' })
}
