import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import { findDebian, must, unpackDebian, withDebian } from './debian.ts'
import type { ImageOptions, ImageWay } from './image.ts'
import { type DockerConfig, imageReference, toImageConfig } from './image-config.ts'
import { nodeBaseRoot, TRUSTED } from './node-base.ts'
import { type Command, run } from './process.ts'
import { startRunc } from './runc.ts'

const ROOT = join(import.meta.dirname, '../..')
export const IMAGE_PACKAGES = ['buildah', 'debootstrap', 'runc'] as const

/** Limit of the images in the cache. A build after a change of `src` adds up to 30, because each layer is an image. */
const IMAGES_MAX = 150

/** An entry of `buildah containers`. `imagename` is empty if the tag of its image was moved to the image of a later build. */
type Container = { readonly id: string; readonly imagename: string }
type Inspected = { readonly Docker: { readonly config: DockerConfig } }

/** Builds images with Debian's buildah, without a container engine. The base image is created here, not pulled. */
export const imageByBuildah: ImageWay = {
  find: () => findDebian(IMAGE_PACKAGES),
  async build(options) {
    const reference = await bud(options)
    const inspected = JSON.parse(await must(await buildah('inspect', '--type', 'image', reference))) as Inspected
    return { reference, config: toImageConfig(inspected.Docker.config) }
  },
  async start({ reference, config }, options) {
    const debian = await unpackDebian(IMAGE_PACKAGES)
    const name = (await must(await buildah('from', '--pull-never', reference))).trim()
    const container = await startRunc({
      ...options,
      config,
      debian,
      mount: ['buildah', ...storage(), 'mount', name].join(' '),
    })
    return {
      ...container,
      async stop() {
        const code = await container.stop()
        await must(await buildah('rm', name))
        return code
      },
    }
  },
  async save({ reference }, file) {
    await must(await buildah('push', reference, `docker-archive:${file}:${reference}`))
  },
}

async function bud(options: ImageOptions): Promise<string> {
  const { version, architecture, target } = options
  const reference = imageReference(options)
  await makeBase()
  // This version of buildah does not set BUILDPLATFORM.
  const own = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`
  const built = architecture === undefined ? own : `linux/${architecture}`
  const platform = ['--platform', built, '--build-arg', `BUILDPLATFORM=${own}`]
  const args = ['--pull-never', '--format', 'docker', '--layers', '--build-arg', `VERSION=${version}`]
  const stage = target === undefined ? [] : ['--target', target]
  await removeOldImages()
  // A later build uses the layers of an earlier one.
  await must(locked(await buildah('bud', ...platform, ...args, ...stage, '--tag', reference, ROOT)))
  return reference
}

/** Above the limit, removes the images without a tag, and the containers that killed tests have left of them. */
async function removeOldImages(): Promise<void> {
  const ids = await must(locked(await buildah('images', '--all', '--quiet')))
  if (ids.trim().split('\n').length <= IMAGES_MAX) return
  const containers = JSON.parse(await must(locked(await buildah('containers', '--json')))) as
    | readonly Container[]
    | null
  const old = (containers ?? []).filter(({ imagename }) => imagename === '').map(({ id }) => id)
  if (old.length > 0) await run(locked(await buildah('rm', ...old)))
  // `rmi --prune` exits with an error if a container uses one of the images, after it has removed the others.
  await run(locked(await buildah('rmi', '--prune')))
}

/**
 * Runs only one command at a time in this cache, also among other test processes. For commands that remove images or
 * containers, and for lists of them: a list fails if one of its elements is removed while it is read.
 */
function locked(command: Command): Command {
  return {
    ...command,
    file: 'flock',
    args: [join(cacheDirectory('buildah'), 'build.lock'), command.file, ...command.args],
  }
}

/** Creates the base image under the name in the Dockerfile. */
async function makeBase(): Promise<void> {
  const name = /^ARG NODE=(.+)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1] ?? ''
  if ((await run(await buildah('inspect', '--type', 'image', name))).code === 0) return
  const root = await nodeBaseRoot(await unpackDebian(IMAGE_PACKAGES))
  const container = (await must(await buildah('from', 'scratch'))).trim()
  const env = [`PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`, `NODE_EXTRA_CA_CERTS=/${TRUSTED}`]
  await must(await buildah('add', container, root, '/'))
  await must(await buildah('config', ...env.flatMap((variable) => ['--env', variable]), container))
  await must(await buildah('commit', '--format', 'docker', '--rm', container, `docker.io/library/${name}`))
}

/** Image storage in the cache, so that later runs reuse built layers. */
function storage(): readonly string[] {
  const directory = cacheDirectory('buildah')
  return ['--root', join(directory, 'storage'), '--runroot', join(directory, 'run')]
}

async function buildah(...args: readonly string[]): Promise<Command> {
  const debian = await unpackDebian(IMAGE_PACKAGES)
  const env = { BUILDAH_ISOLATION: 'chroot' }
  return withDebian(debian, { file: 'buildah', args: [...storage(), ...args], directory: ROOT, env })
}
