import type { ImageOptions } from './image.ts'

/** The configuration of an image. */
export type ImageConfig = {
  readonly user: string
  readonly env: readonly string[]
  readonly workingDirectory: string
  readonly entrypoint: readonly string[]
  /** Arguments of the health check command. */
  readonly healthcheck: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/** The configuration as container engines print it. */
export type DockerConfig = {
  readonly User: string
  readonly Env: readonly string[]
  readonly WorkingDir: string
  readonly Entrypoint: readonly string[]
  readonly Healthcheck?: { readonly Test: readonly string[] }
  readonly Labels: Readonly<Record<string, string>>
}

export function toImageConfig(config: DockerConfig): ImageConfig {
  const [kind, ...healthcheck] = config.Healthcheck?.Test ?? []
  if (kind !== 'CMD') throw new Error('the image has no health check that needs no shell')
  return {
    user: config.User,
    env: config.Env,
    workingDirectory: config.WorkingDir,
    entrypoint: config.Entrypoint,
    healthcheck,
    labels: config.Labels,
  }
}

/** `localhost/weir:test-java-arm64`, for example. */
export function imageReference({ version, target, architecture }: ImageOptions): string {
  return `localhost/weir:${[version, target, architecture].filter((part) => part !== undefined).join('-')}`
}
