import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createRegistryClient } from '../../clients/registry-client.ts'
import { createWorkerClient } from '../../clients/worker-client.ts'
import { createDirectories } from '../../common/create-directories.ts'
import { manifestDirectoryOf } from '../../operator/simulation.ts'
import { loadPlugins, secretKeysOf } from '../../worker/main.ts'
import { collectArchive } from '../archive/collect-archive.ts'
import { collectConnectors } from '../collect-connectors.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { connectorManifests } from '../manifests/generate/connector-manifests.ts'
import type { GeneratedManifests } from '../manifests/generate/generated-manifests.ts'
import { registryManifests } from '../manifests/generate/registry-manifests.ts'
import { namedValues } from '../manifests/runtime-sources.ts'
import { abortOnStopSignal } from '../process/stop-signal.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, endpointOf, reportRequestError } from '../runtime-connection.ts'
import { printableText } from '../terminal/printable-text.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  registry: { type: 'string', multiple: true },
  worker: { type: 'string', multiple: true },
  namespace: { type: 'string', default: 'default' },
} as const

export const generateCommand: Command = {
  help: `usage: weir generate DIR [--worker [NAME=]URL]… [--registry [NAME=]URL]…

Writes manifests of what runs to DIR, an empty or new directory: a Connector for each connector, a Subject for each subject
with its latest schema, and RegistryModes. The runtimes are only read. Values of connector settings that may be secret are not
written: their manifests refer to Secrets, which DIR/SECRETS.md lists. What no manifest can declare is printed as a note, and the last
line then says that the manifests are not complete.

Applying the manifests writes nothing to the runtimes and restarts nothing. Connectors with Secrets need
allowInlineSecrets: true in the operator's configuration; without it they are not adopted. weir diff shows what would
change.

  --worker [NAME=]URL     a worker; NAME becomes workerRef, default: default; may be repeated
  --registry [NAME=]URL   a registry; NAME becomes registryRef; may be repeated
  --namespace NAMESPACE   namespace of the manifests; default: default
${CONNECTION_HELP}

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
    const scopeOf = (runtime: string, runtimes: ReadonlyMap<string, string>) => {
      const otherRuntimes = [...runtimes.keys()].filter((name) => name !== runtime)
      return { runtime, namespace, otherRuntimes }
    }
    const signal = abortOnStopSignal()
    try {
      const generated: GeneratedManifests[] = []
      const { catalog } = await loadPlugins([])
      for (const [runtime, url] of workers) {
        const client = createWorkerClient(endpointOf('--worker', url, credentials))
        const connectors = await collectConnectors(client)
        generated.push(
          connectorManifests(connectors, scopeOf(runtime, workers), (config) => secretKeysOf(config, catalog)),
        )
      }
      for (const [runtime, url] of registries) {
        const client = createRegistryClient(endpointOf('--registry', url, credentials))
        const archive = await collectArchive(client, { deleted: false, signal })
        generated.push(registryManifests(archive, scopeOf(runtime, registries)))
      }
      return write(directory, generated)
    } catch (error) {
      return reportRequestError(error)
    }
  },
}

function write(directory: string, generated: readonly GeneratedManifests[]): 0 | 1 {
  const all = generated.flatMap((one) => one.files)
  const notes = generated.flatMap((one) => one.notes)
  // A name that a runtime allows may be invalid in a manifest.
  const { problems } = manifestDirectoryOf(all)
  const files = all.filter(({ path }) => !problems.some(({ file }) => file === path))
  for (const { path, text } of files) {
    createDirectories(join(directory, dirname(path)))
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
    ...(secrets.length === 0 ? [] : [`create the Secrets of ${join(directory, 'SECRETS.md')}`]),
    `${files.length} manifests in ${directory}, ${completenessOf(problems.length, notes.length)}`,
  ]
  process.stdout.write(`${lines.map((line) => printableText(line)).join('\n')}\n`)
  return problems.length === 0 ? 0 : 1
}

/** What a manifest cannot declare must not be taken for declared. */
function completenessOf(problems: number, notes: number): string {
  if (problems + notes === 0) return 'complete'
  return `not complete: ${[...count(problems, 'error'), ...count(notes, 'note')].join(' and ')} above`
}

function count(number: number, what: string): readonly string[] {
  return number === 0 ? [] : [`${number} ${what}${number === 1 ? '' : 's'}`]
}

function emptyDirectory([path, ...more]: readonly string[]): string {
  if (path === undefined) throw new UsageError('expected an empty or new directory: weir generate DIR')
  if (more.length > 0) throw new UsageError(`weir generate takes one directory: '${more[0]}' is unexpected`)
  const known = statSync(path, { throwIfNoEntry: false })
  if (known === undefined || (known.isDirectory() && readdirSync(path).length === 0)) return path
  throw new UsageError(`${path} is not empty: give an empty or new directory`)
}
