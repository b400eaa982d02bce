import { writeFileSync } from 'node:fs'
import { counted } from '../../common/counted.ts'
import { loadPlugins, secretKeysOf } from '../../worker/main.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import type { SecretToCreate } from '../convert/build-connector.ts'
import { SOURCES, type Source } from '../convert/conversion-context.ts'
import { type ConversionFinding, formatConversionFinding } from '../convert/conversion-report.ts'
import { type Conversion, convertInput, rewriteInput } from '../convert/convert-input.ts'
import { readInput } from '../convert/input-files.ts'
import { manifestText, writeManifests } from '../manifests/write-manifests.ts'

const OPTIONS = {
  from: { type: 'string' },
  'output-dir': { type: 'string' },
  'in-place': { type: 'boolean', default: false },
  overwrite: { type: 'boolean', default: false },
  worker: { type: 'string' },
  registry: { type: 'string' },
} as const

export const convertCommand: Command = {
  help: `usage: weir convert FILE|DIR|-… [--from SYSTEM] [--output-dir DIR [--overwrite]] [--worker NAME] [--registry NAME]
       weir convert FILE|DIR… --in-place

Converts the manifests of other systems, and those of earlier versions of Weir, to manifests of Weir:

  strimzi     KafkaConnector
  confluent   Connector and Schema of Confluent for Kubernetes, with the ConfigMaps of schemas in the same input
  redpanda    Schema
  jikkou      KafkaConnector and SchemaRegistrySubject
  terraform   resources of the provider confluentinc/confluent for connectors, schemas, subject configs and modes:
              .tf, .tf.json, and the output of terraform show -json, which has the values of all expressions
  connect     JSON of Kafka Connect's REST API, and the properties files of connect-standalone
  weir        resources of an earlier API version: only apiVersion changes, comments and everything else in the file stay

Prints the manifests, or writes one file for each. Standard error lists each field that has no counterpart, by file, line
and field, with what to do. Secrets in configurations are never written: the manifests refer to Secrets, and standard
error lists the ones to create.

Exit codes: 0 all was converted, 1 something could not be converted or was lost, 2 wrong usage.

  --from SYSTEM     convert the resources of this system only; required for properties and .tf on standard input
  --output-dir DIR  write connectors/NAME.yaml, subjects/NAME.yaml and registry-modes/NAME.yaml to DIR, below a
                    directory with the name of the namespace if the manifest has one
  --overwrite       replace files that exist with other content
  --in-place        rewrite the files that have resources of Weir of an earlier API version, and leave all others
  --worker NAME     worker cluster of all Connectors, by its name in the configuration of the operator
  --registry NAME   registry of all Subjects and RegistryModes, by its name in the configuration of the operator

  weir convert strimzi/ --output-dir weir/
  curl -s http://localhost:8083/connectors?expand=info | weir convert - --from connect
  weir convert manifests/ --in-place`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length === 0) throw new UsageError('expected a file or directory: weir convert PATH')
    const folder = values['output-dir']
    if (values.overwrite && folder === undefined) throw new UsageError('--overwrite needs --output-dir')
    if (values['in-place']) return rewriteInPlace(positionals, values)
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
    const { findings, rewritten } = conversion
    const kept = folder === undefined ? [] : rewritten.map(({ file }) => keptFinding(file))
    const printed = folder === undefined ? rewritten : []
    report({ ...conversion, rewritten: printed, findings: [...findings, ...kept] }, conflicts)
    return exitCodeOf([...findings, ...kept], conflicts)
  },
}

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

function rewriteInPlace(paths: readonly string[], values: Values): ExitCode {
  const others = [values.from, values['output-dir'], values.worker, values.registry]
  if (others.some((value) => value !== undefined) || paths.includes('-'))
    throw new UsageError('--in-place rewrites files with manifests of Weir: it takes files and directories only')
  const { rewritten, findings } = rewriteInput(readInput(paths))
  for (const { file, text } of rewritten) writeFileSync(file, text)
  const count = rewritten.reduce((sum, file) => sum + file.count, 0)
  const lines = [
    ...rewritten.map(({ file, count: resources }) => `${file}: ${counted(resources, 'resource')}`),
    ...findings.map(formatConversionFinding),
    `rewrote ${counted(count, 'resource')} in ${counted(rewritten.length, 'file')}; ${counted(findings.length, 'failure')}`,
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
  return exitCodeOf(findings, [])
}

/** Each file is written below its own name, and a directory of output has a file for each resource. */
function keptFinding(file: string): ConversionFinding {
  const message = 'has manifests of Weir, which --output-dir does not write: weir convert FILE --in-place rewrites them'
  return { kind: 'failed', file, line: 1, field: '', message }
}

function sourceOf(from: string | undefined): Source | undefined {
  if (from === undefined) return undefined
  const found = SOURCES.find((source) => source === from)
  if (found === undefined) throw new UsageError(`--from ${from}: expected one of ${SOURCES.join(', ')}`)
  return found
}

/** The text of one file is printed as it is. */
function printManifests({ manifests, rewritten }: Conversion): readonly string[] {
  const texts = [...rewritten.map(({ text }) => text), ...manifests.map(manifestText)]
  const separated = texts.map((text, at) => {
    const isFollowed = at < texts.length - 1 && !texts[at + 1]!.startsWith('---')
    return isFollowed ? `${text}${text.endsWith('\n') ? '' : '\n'}---\n` : text
  })
  process.stdout.write(separated.join(''))
  return []
}

function report({ manifests, rewritten, secrets, findings }: Conversion, conflicts: readonly string[]): void {
  const lines = findings.map(formatConversionFinding)
  if (secrets.length > 0) lines.push('Secrets to create, with the values of the input:', ...secrets.map(formatSecret))
  for (const path of conflicts) lines.push(`${path} exists with other content; --overwrite replaces it`)
  const count = (kind: ConversionFinding['kind']) => findings.filter((finding) => finding.kind === kind).length
  const converted =
    conflicts.length > 0
      ? 'wrote nothing'
      : `converted ${counted(
          rewritten.reduce((sum, { count: own }) => sum + own, manifests.length),
          'resource',
        )}`
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
