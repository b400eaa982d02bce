import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { undefinedIfNotFound } from '../../clients/http-client.ts'
import { createRegistryClient } from '../../clients/registry-client.ts'
import { createWorkerClient, type ExpandedConnector, type WorkerClient } from '../../clients/worker-client.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { manifestDirectoryOf } from '../../operator/simulation.ts'
import { collectArchive } from '../archive/collect-archive.ts'
import { endpointOf, REGISTRY_OPTIONS, reportRequestError } from '../archive/registry-connection.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { connectorManifests } from '../manifests/generate/connector-manifests.ts'
import type { GeneratedManifests } from '../manifests/generate/generated-manifests.ts'
import { registryManifests } from '../manifests/generate/registry-manifests.ts'
import { namedValues } from '../manifests/runtime-sources.ts'
import { abortOnStopSignal } from '../process/stop-signal.ts'

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  registry: { type: 'string', multiple: true },
  worker: { type: 'string', multiple: true },
  namespace: { type: 'string', default: 'default' },
} as const

export const generateCommand: Command = {
  help: `usage: weir generate DIR [--worker [NAME=]URL]… [--registry [NAME=]URL]…

Writes manifests of what runs to DIR, an empty or new directory: a Connector for each connector, a Subject for each subject
with its latest schema, and RegistryModes. The runtimes are only read. Values of connector settings that may be secret are not
written: their manifests refer to Secrets, which DIR/SECRETS.md lists.

To apply the manifests without a write to a runtime, set ownershipMarker: false for the workers in the operator's
configuration and, for the Secrets, allowInlineSecrets: true. weir diff shows what would change.

  --worker [NAME=]URL     a worker; NAME becomes workerRef, default: default; may be repeated
  --registry [NAME=]URL   a registry; NAME becomes registryRef; may be repeated
  --namespace NAMESPACE   namespace of the manifests; default: default
  --user NAME:PASSWORD    BASIC credentials; without :PASSWORD the password is read from WEIR_PASSWORD
  --cacert FILE           trusted certificates (PEM or PKCS#12)
  --cert FILE --key FILE  client certificate and key (PEM)
  --help

Exit codes: 0 done, 1 some manifests would be invalid and are left out, 2 wrong usage, 3 a runtime does not respond.

  weir generate manifests --worker http://127.0.0.1:8083 --registry http://127.0.0.1:8081`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const { registry, worker, namespace, ...credentials } = values
    const directory = emptyDirectory(positionals)
    const [workers, registries] = [namedValues(worker), namedValues(registry)]
    if (workers.size + registries.size === 0) {
      throw new UsageError('expected a runtime to read: give --worker URL, --registry URL, or both')
    }
    const signal = abortOnStopSignal()
    try {
      const generated: GeneratedManifests[] = []
      for (const [runtime, url] of workers) {
        const client = createWorkerClient(endpointOf('--worker', url, credentials))
        generated.push(connectorManifests(await collectConnectors(client), { runtime, namespace }))
      }
      for (const [runtime, url] of registries) {
        const client = createRegistryClient(endpointOf('--registry', url, credentials))
        const archive = await collectArchive(client, { deleted: false, signal })
        generated.push(registryManifests(archive, { runtime, namespace }))
      }
      return write(directory, generated)
    } catch (error) {
      return reportRequestError(error)
    }
  },
}

async function collectConnectors(client: WorkerClient): Promise<Readonly<Record<string, ExpandedConnector>>> {
  const names = await client.names()
  const connectors = await mapConcurrently(names, async (name): Promise<[string, ExpandedConnector]> => {
    const [info, status] = await Promise.all([
      undefinedIfNotFound(client.get(name)),
      undefinedIfNotFound(client.status(name)),
    ])
    return [name, { ...(info && { info }), ...(status && { status }) }]
  })
  return Object.fromEntries(connectors)
}

function write(directory: string, generated: readonly GeneratedManifests[]): 0 | 1 {
  const all = generated.flatMap((one) => one.files)
  const notes = generated.flatMap((one) => one.notes)
  // A name that a runtime allows may be invalid in a manifest.
  const { problems } = manifestDirectoryOf(all)
  const files = all.filter(({ path }) => !problems.some(({ file }) => file === path))
  for (const { path, text } of files) {
    mkdirSync(join(directory, dirname(path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const secrets = generated.flatMap((one) => one.secrets)
  if (secrets.length > 0) {
    const rows = secrets.map(
      ({ secret, key, connector, setting }) => `| ${secret} | ${key} | ${connector} | ${setting} |`,
    )
    const table = ['| Secret | key | connector | setting |', '| --- | --- | --- | --- |', ...rows].join('\n')
    writeFileSync(join(directory, 'SECRETS.md'), `# Secrets to create before the manifests are applied\n\n${table}\n`)
  }
  const lines = [
    ...problems.map(({ file, message }) => `error: ${file} is not written: ${message}`),
    ...notes.map((note) => `note: ${note}`),
    `${files.length} manifests in ${directory}${secrets.length === 0 ? '' : `; create the Secrets of ${join(directory, 'SECRETS.md')}`}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  return problems.length === 0 ? 0 : 1
}

function emptyDirectory([path, ...more]: readonly string[]): string {
  if (path === undefined) throw new UsageError('expected an empty or new directory: weir generate DIR')
  if (more.length > 0) throw new UsageError(`weir generate takes one directory: '${more[0]}' is unexpected`)
  const known = statSync(path, { throwIfNoEntry: false })
  if (known === undefined || (known.isDirectory() && readdirSync(path).length === 0)) return path
  throw new UsageError(`${path} is not empty: give an empty or new directory`)
}
