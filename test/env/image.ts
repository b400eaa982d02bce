import { imageByBuildah } from './image-buildah.ts'
import type { ImageConfig } from './image-config.ts'
import { imageByDocker } from './image-docker.ts'
import type { Found, Part } from './part.ts'
import type { Output } from './process.ts'

/** An image built from the Dockerfile. */
export type Image = {
  /** `name:tag` in the image storage of its builder. */
  readonly reference: string
  readonly config: ImageConfig
}

export type ImageOptions = {
  readonly version: string
  /** Default: this machine's. */
  readonly architecture?: 'amd64' | 'arm64'
  /** A target of the Dockerfile. Default: the image without Java. */
  readonly target?: 'java'
}

export type ContainerOptions = {
  readonly args: readonly string[]
  /** Folders that are writable in the container. Everything else is read-only. */
  readonly writable: readonly string[]
  /** Folders that appear empty in the container. */
  readonly hidden: readonly string[]
  /** Directories of this machine that appear in the container, read-only. */
  readonly mounted?: readonly { readonly from: string; readonly to: string }[]
}

/** A container that runs as the image's user, with a read-only root, no capabilities and only a loopback network. */
export type Container = {
  /** Runs a command in it, without a shell. */
  exec(command: readonly string[]): Promise<Output>
  /** Its output so far. */
  output(): Promise<string>
  /** Sends SIGTERM, and SIGKILL after 10 s. Returns the exit code, null if a signal ended it. */
  stop(): Promise<number | null>
}

/** A way to build and run images. */
export type ImageWay = {
  find(): Promise<Found>
  build(options: ImageOptions): Promise<Image>
  start(image: Image, options: ContainerOptions): Promise<Container>
  /** Writes the image to a file in the format of `docker save`. */
  save(image: Image, file: string): Promise<void>
}

export type ImageAddress = { readonly way: 'docker' | 'buildah' }

/** Builds and runs images with a Docker engine, or else with Debian's buildah and runc. */
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
