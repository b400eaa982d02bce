import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findDebian, must, unpackDebian, withDebian } from '../../test/env/debian.ts'
import { IMAGE_PACKAGES } from '../../test/env/image-buildah.ts'
import { nodeBaseRoot, TRUSTED } from '../../test/env/node-base.ts'
import { type Command, run } from '../../test/env/process.ts'
import { writeTar } from './archive.ts'
import type { Artifact, Artifacts, BuildOptions } from './artifacts.ts'

const ARCHITECTURES = ['amd64', 'arm64'] as const
type Architecture = (typeof ARCHITECTURES)[number]
const TARGETS = [undefined, 'java'] as const
const OWN = process.arch === 'x64' ? 'amd64' : process.arch

/** Whether this machine has buildah, or the reason why not. */
export async function findBuildah(): Promise<{ readonly missing?: string }> {
  if (await hasBuildah()) return {}
  const found = await findDebian(IMAGE_PACKAGES)
  return found.how === 'missing' ? { missing: `there is no buildah: ${found.detail}` } : {}
}

/** The version of buildah, which is part of what the bytes of an image depend on. */
export async function buildahVersion(): Promise<string> {
  const buildah = await openBuildah('.', [])
  return (await must(buildah('--version'))).trim().replace(/^buildah version /, '')
}

/**
 * Builds the images for each architecture as archives in the OCI format, in an image storage of their own, so that nothing is
 * taken from an earlier build. An image whose base cannot be had for an architecture is reported as missing.
 */
export async function buildImages(options: BuildOptions): Promise<Artifacts> {
  const storage = ['--root', join(options.work, 'images'), '--runroot', join(options.work, 'images-run')]
  const buildah = await openBuildah(options.checkout, storage)
  const files: Artifact[] = []
  const missing: { name: string; reason: string }[] = []
  for (const architecture of ARCHITECTURES) {
    const base = await provideBase(buildah, options, architecture)
    for (const target of TARGETS) {
      const name = imageFile(options.version, architecture, target)
      if ('reason' in base) missing.push({ name, reason: base.reason })
      else files.push(await buildImage(buildah, options, { name, architecture, target, base }))
    }
  }
  return { files, missing }
}

export function imageFile(version: string, architecture: Architecture, target: (typeof TARGETS)[number]): string {
  return `weir-image-${target === undefined ? '' : `${target}-`}${version}-linux-${architecture}.tar`
}

type Buildah = (...args: readonly string[]) => Command
type Base = { readonly image: string; readonly digest: string; readonly isCreatedHere: boolean }
type ImageBuild = {
  readonly name: string
  readonly architecture: Architecture
  readonly target: (typeof TARGETS)[number]
  readonly base: Base
}

/** Pulls the base image. For the architecture of this machine, it can be created from packages of Debian instead. */
async function provideBase(
  buildah: Buildah,
  { checkout, sourceDateEpoch }: BuildOptions,
  architecture: Architecture,
): Promise<Base | { readonly reason: string }> {
  const image = `docker.io/library/${/^ARG NODE=(.+)$/m.exec(readFileSync(join(checkout, 'Dockerfile'), 'utf8'))?.[1]}`
  const pulled = await run(buildah('pull', '--quiet', '--platform', `linux/${architecture}`, image))
  if (pulled.code === 0) return { image, digest: await digestOf(buildah, pulled.stdout.trim()), isCreatedHere: false }
  const reason = `its base ${image} cannot be pulled for linux/${architecture}: ${pulled.stderr.trim().split('\n').at(-1)}`
  if (architecture !== OWN) return { reason }
  const root = await nodeBaseRoot(await unpackDebian(IMAGE_PACKAGES))
  const container = (await must(buildah('from', 'scratch'))).trim()
  await must(buildah('add', container, root, '/'))
  const env = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', `NODE_EXTRA_CA_CERTS=/${TRUSTED}`]
  await must(buildah('config', ...env.flatMap((variable) => ['--env', variable]), container))
  await must(buildah('commit', '--quiet', '--timestamp', String(sourceDateEpoch), '--rm', container, image))
  return { image, digest: await digestOf(buildah, image), isCreatedHere: true }
}

async function buildImage(buildah: Buildah, options: BuildOptions, build: ImageBuild): Promise<Artifact> {
  const { checkout, folder, work, version, commit, sourceDateEpoch } = options
  const { name, architecture, target, base } = build
  const reference = `localhost/${name.replace(/\.tar$/, '')}`
  const variables = { VERSION: version, REVISION: commit, BUILDPLATFORM: `linux/${OWN}` }
  await must(
    buildah(
      ...['bud', '--quiet', '--layers', '--platform', `linux/${architecture}`],
      ...['--timestamp', String(sourceDateEpoch), '--tag', reference],
      ...Object.entries(variables).flatMap(([variable, value]) => ['--build-arg', `${variable}=${value}`]),
      ...(base.isCreatedHere ? ['--pull-never'] : []),
      ...(target === undefined ? [] : ['--target', target]),
      checkout,
    ),
  )
  const layout = join(work, name.replace(/\.tar$/, ''))
  await must(buildah('push', '--quiet', '--format', 'oci', reference, `oci:${layout}:${version}`))
  await writeTar(join(folder, name), layout, '.', sourceDateEpoch)
  return {
    name,
    madeFrom: [
      {
        name: base.isCreatedHere ? 'a base that the build machine created from packages of Debian' : 'base',
        uri: `pkg:docker/${base.image.replace('docker.io/library/', '').replace(':', '@')}?platform=linux/${architecture}`,
        digest: { sha256: base.digest },
      },
    ],
  }
}

async function digestOf(buildah: Buildah, image: string): Promise<string> {
  const text = await must(buildah('inspect', '--type', 'image', '--format', '{{.FromImageDigest}}', image))
  return text.trim().replace(/^sha256:/, '')
}

/** Commands of the buildah of this machine, or else of Debian's package, which is unpacked and not installed. */
async function openBuildah(directory: string, storage: readonly string[]): Promise<Buildah> {
  const env = { BUILDAH_ISOLATION: 'chroot' }
  const command: Buildah = (...args) => ({ file: 'buildah', args: [...storage, ...args], directory, env })
  if (await hasBuildah()) return command
  const debian = await unpackDebian(IMAGE_PACKAGES)
  return (...args) => withDebian(debian, command(...args))
}

async function hasBuildah(): Promise<boolean> {
  const found = await run({ file: 'buildah', args: ['--version'], directory: '.' }).catch(() => undefined)
  return found?.code === 0
}
