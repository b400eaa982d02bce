import type { Found, Part } from './part.ts'
import { freePort } from './ports.ts'
import { findDockerImage, startServerInDocker } from './postgres-docker.ts'
import { findPrograms, type PostgresServer, startServerHere } from './postgres-server.ts'

/** A database and a superuser that can create others. */
export type PostgresAddress = { readonly url: string }

const VARIABLE = 'DATABASE_URL'
const USER = 'weir'
const PASSWORD = 'a secret'

/** A server that is shared by all tests of a run: use a separate database. */
export function postgresPart(name: string): Part<PostgresAddress> {
  return {
    name,
    version: 'any',
    find: async () => {
      const named = process.env[VARIABLE]
      return named === undefined ? findPostgres() : { how: 'environment', detail: VARIABLE, cached: true }
    },
    async start() {
      const url = process.env[VARIABLE]
      if (url !== undefined) return { address: { url }, stop: async () => {} }
      const server = await startPostgres()
      return { address: { url: server.url }, stop: () => server.stop() }
    },
  }
}

export type Postgres = PostgresAddress & PostgresServer & { readonly port: number }

/** Starts a server for one test, which may crash and restart it. */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<Postgres> {
  const port = await freePort()
  const options = { port, user: USER, password: PASSWORD, settings }
  const server = (await findDockerImage()).how === 'docker' ? startServerInDocker(options) : startServerHere(options)
  const url = `postgresql://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`
  return { ...(await server), url, port }
}

async function findPostgres(): Promise<Found> {
  const docker = await findDockerImage()
  return docker.how === 'docker' ? docker : findPrograms()
}
