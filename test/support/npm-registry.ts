import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { must } from '../env/debian.ts'
import { partDirectory } from '../env/workspace.ts'

/** An npm registry with one package, which requires a token. */
export type NpmRegistry = {
  readonly port: number
  /** Content of an `.npmrc` with its URL and token. */
  readonly npmrc: string
  stop(): Promise<void>
}

const TOKEN = 'npm-token'

/** Starts a registry whose package is built from `folder` by `npm pack`. */
export async function startNpmRegistry(folder: string): Promise<NpmRegistry> {
  const directory = partDirectory('npm-registry')
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory]
  const [packed] = JSON.parse(await must({ file: 'npm', args, directory: folder })) as readonly Packed[]
  const { name, version, filename, integrity } = packed!
  const archive = readFileSync(join(directory, filename))
  const server = createServer(({ headers: { authorization, host }, url }, response) => {
    if (authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end()
    if (url === `/${filename}`) return void response.end(archive)
    if (url !== `/${name}`) return void response.writeHead(404).end()
    const dist = { tarball: `http://${host}/${filename}`, integrity }
    const versions = { [version]: { name, version, dist } }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    npmrc: `registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=${TOKEN}\n`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Packed = {
  readonly name: string
  readonly version: string
  readonly filename: string
  readonly integrity: string
}
