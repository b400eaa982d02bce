import { loadPlugins, secretKeysOf } from '../../worker/main.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import type { SecretToCreate } from '../convert/build-connector.ts'
import { SOURCES, type Source } from '../convert/conversion-context.ts'
import { type ConversionFinding, formatConversionFinding } from '../convert/conversion-report.ts'
import { type Conversion, convertInput } from '../convert/convert-input.ts'
import { readInput } from '../convert/input-files.ts'
import { manifestText, writeManifests } from '../manifests/write-manifests.ts'

const OPTIONS = {
  from: { type: 'string' },
  'output-dir': { type: 'string' },
  overwrite: { type: 'boolean', default: false },
  worker: { type: 'string' },
  registry: { type: 'string' },
} as const

export const convertCommand: Command = {
  help: `usage: weir convert FILE|DIR|-… [--from SYSTEM] [--output-dir DIR [--overwrite]] [--worker NAME] [--registry NAME]

Converts the manifests of other systems to manifests of Weir:

  strimzi     KafkaConnector
  confluent   Connector and Schema of Confluent for Kubernetes, with the ConfigMaps of schemas in the same input
  redpanda    Schema
  jikkou      KafkaConnector and SchemaRegistrySubject
  terraform   resources of the provider confluentinc/confluent for connectors, schemas, subject configs and modes:
              .tf, .tf.json, and the output of terraform show -json, which has the values of all expressions
  connect     JSON of Kafka Connect's REST API, and the properties files of connect-standalone

Prints the manifests, or writes one file for each. Standard error lists each field that has no counterpart, by file, line
and field, with what to do. Secrets in configurations are never written: the manifests refer to Secrets, and standard
error lists the ones to create.

Exit codes: 0 all was converted, 1 something could not be converted or was lost, 2 wrong usage.

  --from SYSTEM     convert the resources of this system only; required for properties and .tf on standard input
  --output-dir DIR  write connectors/NAME.yaml, subjects/NAME.yaml and registry-modes/NAME.yaml to DIR, below a
                    directory with the name of the namespace if the manifest has one
  --overwrite       replace files that exist with other content
  --worker NAME     worker cluster of all Connectors, by its name in the configuration of the operator
  --registry NAME   registry of all Subjects and RegistryModes, by its name in the configuration of the operator

  weir convert strimzi/ --output-dir weir/
  curl -s http://localhost:8083/connectors?expand=info | weir convert - --from connect`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length === 0) throw new UsageError('expected a file or directory: weir convert PATH')
    const folder = values['output-dir']
    if (values.overwrite && folder === undefined) throw new UsageError('--overwrite needs --output-dir')
    const from = sourceOf(values.from)
    const input = readInput(positionals)
    const { catalog } = await loadPlugins([])
    const conversion = convertInput(input, {
      from,
      workerRef: values.worker,
      registryRef: values.registry,
      secretKeysOf: (config) => secretKeysOf(config, catalog),
    })
    const conflicts =
      folder === undefined
        ? printManifests(conversion)
        : writeManifests(folder, conversion.manifests, { overwrite: values.overwrite })
    report(conversion, conflicts)
    return exitCodeOf(conversion.findings, conflicts)
  },
}

function sourceOf(from: string | undefined): Source | undefined {
  if (from === undefined) return undefined
  const found = SOURCES.find((source) => source === from)
  if (found === undefined) throw new UsageError(`--from ${from}: expected one of ${SOURCES.join(', ')}`)
  return found
}

function printManifests({ manifests }: Conversion): readonly string[] {
  process.stdout.write(manifests.map(manifestText).join('---\n'))
  return []
}

function report({ manifests, secrets, findings }: Conversion, conflicts: readonly string[]): void {
  const lines = findings.map(formatConversionFinding)
  if (secrets.length > 0) lines.push('Secrets to create, with the values of the input:', ...secrets.map(formatSecret))
  for (const path of conflicts) lines.push(`${path} exists with other content; --overwrite replaces it`)
  const count = (kind: ConversionFinding['kind']) => findings.filter((finding) => finding.kind === kind).length
  const converted =
    conflicts.length > 0
      ? 'wrote nothing'
      : `converted ${manifests.length} ${manifests.length === 1 ? 'resource' : 'resources'}`
  lines.push(`${converted}; ${count('failed')} failures, ${count('lost')} fields without a counterpart`)
  process.stderr.write(`${lines.join('\n')}\n`)
}

function formatSecret({ name, namespace, keys }: SecretToCreate): string {
  const files = keys.map(({ secretKey }) => `--from-file=${secretKey}=FILE`)
  const where = namespace === undefined ? '' : ` --namespace ${namespace}`
  return `  kubectl create secret generic ${name}${where} ${files.join(' ')}`
}

function exitCodeOf(findings: readonly ConversionFinding[], conflicts: readonly string[]): ExitCode {
  return conflicts.length > 0 || findings.some(({ kind }) => kind !== 'note') ? 1 : 0
}
