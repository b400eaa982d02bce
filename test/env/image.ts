import { imageByBuildah } from './image-buildah.ts'
import type { ImageConfig } from './image-config.ts'
import { imageByDocker } from './image-docker.ts'
import type { Found, Part } from './part.ts'
import type { Output } from './process.ts'

/** What was built of the Dockerfile. */
export type Image = {
  /** `name:tag`, as who built it knows it. */
  readonly reference: string
  readonly config: ImageConfig
}

export type ImageOptions = {
  readonly version: string
  /** Default: this machine's. */
  readonly architecture?: 'amd64' | 'arm64'
}

export type ContainerOptions = {
  readonly args: readonly string[]
  /** Folders in which the container may write; everything else is read-only. */
  readonly writable: readonly string[]
  /** Folders that are empty in it, whatever the image has there. */
  readonly hidden: readonly string[]
}

/**
 * A container of the image: as the image's own user, on a read-only root, without any capability, with a network that
 * holds its own loopback only.
 */
export type Container = {
  /** Calls a program in it, without a shell. */
  exec(command: readonly string[]): Promise<Output>
  /** What it printed so far. */
  output(): Promise<string>
  /** SIGTERM, and SIGKILL after ten seconds. Its exit code, null when a signal ended it. */
  stop(): Promise<number | null>
}

/** A way to build and run images. */
export type ImageWay = {
  find(): Promise<Found>
  build(options: ImageOptions): Promise<Image>
  start(image: Image, options: ContainerOptions): Promise<Container>
  /** Writes the image to a file as `docker save` does. */
  save(image: Image, file: string): Promise<void>
}

export type ImageAddress = { readonly way: 'docker' | 'buildah' }

/** What builds and runs images here: a Docker engine, or Debian's buildah and runc. */
export function imagePart(name: string): Part<ImageAddress> {
  const find = async () => {
    const docker = await imageByDocker.find()
    return docker.how === 'missing' ? imageByBuildah.find() : docker
  }
  return {
    name,
    version: '1',
    find,
    async start() {
      return { address: { way: (await find()).how === 'docker' ? 'docker' : 'buildah' }, stop: async () => {} }
    },
  }
}

export function imageWay({ way }: ImageAddress): ImageWay {
  return { docker: imageByDocker, buildah: imageByBuildah }[way]
}
