import type { Found } from './part.ts'
import { type PostgresServer, type ServerOptions, serverArgs } from './postgres-server.ts'

const IMAGE = 'postgres:17.6'

export async function findDockerImage(): Promise<Found> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers')
  const engine = await getContainerRuntimeClient().catch(() => undefined)
  if (engine === undefined) return { how: 'missing', detail: 'no Docker engine answers' }
  return { how: 'docker', detail: IMAGE, cached: await engine.image.exists(ImageName.fromString(IMAGE)) }
}

/** Uses the network of the host, so that the port is the same after a restart. */
export async function startServerInDocker(options: ServerOptions): Promise<PostgresServer> {
  const { user, password } = options
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(IMAGE)
    .withNetworkMode('host')
    .withEnvironment({ POSTGRES_USER: user, POSTGRES_PASSWORD: password, POSTGRES_DB: 'postgres' })
    .withCommand(serverArgs(options))
    // The server starts twice, first to initialize the database.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .start()
  return {
    version: IMAGE,
    crash: async () => void (await container.stop({ remove: false, timeout: 0 })),
    restart: () => container.restart(),
    stop: async () => void (await container.stop()),
  }
}
