import { RequestError } from '../../clients/http-client.ts'
import { ClusterError } from '../../clients/kubernetes/cluster-error.ts'
import type { Command, ExitCode } from '../command.ts'
import { type ArgumentOptions, parseArguments, UsageError } from '../command.ts'
import { InterruptedError } from '../process/stop-signal.ts'
import { reportRequestError } from '../runtime-connection.ts'
import { resolveTarget, runtimeOf, TARGET_HELP, TARGET_OPTIONS, type Target } from '../target.ts'
import { printableText } from '../terminal/printable-text.ts'
import { registrySubjects } from './registry-subjects.ts'
import { NotFoundError, type ResourceSource } from './resource-source.ts'
import { parseResources, type ResourceWord } from './resource-words.ts'
import { workerConnectors } from './worker-connectors.ts'

/** Options of verbs, each with its line of `--help`. */
export const VERB_OPTIONS = {
  output: {
    spec: { type: 'string', short: 'o', default: 'table' },
    help: '  -o, --output FORMAT     table, wide, json, yaml or name; default: table',
  },
  format: {
    spec: { type: 'string', short: 'o', default: 'text' },
    help: '  -o, --format FORMAT     text, json or yaml; default: text',
  },
  watch: {
    spec: { type: 'boolean', short: 'w' },
    help: '  -w, --watch             then print what changes, until Ctrl-C',
  },
  follow: {
    spec: { type: 'boolean', short: 'f' },
    help: '  -f, --follow            then print new lines, until Ctrl-C',
  },
  tail: {
    spec: { type: 'string' },
    help: '  --tail N                only the last N lines; default: all that the workers keep',
  },
  task: { spec: { type: 'string' }, help: '  --task N                this task only' },
  failed: { spec: { type: 'boolean' }, help: '  --failed                only what has failed' },
  yes: {
    spec: { type: 'boolean', short: 'y' },
    help: '  -y, --yes               do not ask; required when standard input is no terminal',
  },
  permanent: {
    spec: { type: 'boolean' },
    help: '  --permanent             of subjects: delete for good, so that data written with them cannot be read',
  },
  bootstrap: {
    spec: { type: 'string' },
    help: '  --bootstrap HOST:PORT,… the Kafka brokers of the worker; default: those of the running weir up',
  },
  config: { spec: { type: 'string' }, help: '  --config FILE           settings of the Kafka client (.properties)' },
  version: { spec: { type: 'string' }, help: '  --version N             of a subject: this version only' },
  set: {
    spec: { type: 'string', multiple: true },
    help: '  --set TOPIC/N=OFFSET    of a sink: continue at this offset of partition N; may be repeated',
  },
  reset: {
    spec: { type: 'boolean' },
    help: '  --reset                 delete all offsets: a connector then begins anew',
  },
  from: { spec: { type: 'string' }, help: '  --from N                the older version; default: the one before' },
  to: {
    spec: { type: 'string', default: 'latest' },
    help: '  --to N                  the newer version; default: latest',
  },
} as const satisfies Readonly<Record<string, { readonly spec: ArgumentOptions[string]; readonly help: string }>>
export type VerbOption = keyof typeof VERB_OPTIONS

export type VerbValues = {
  readonly output?: string
  readonly format?: string
  readonly watch?: boolean
  readonly follow?: boolean
  readonly tail?: string
  readonly task?: string
  readonly failed?: boolean
  readonly yes?: boolean
  readonly permanent?: boolean
  readonly bootstrap?: string
  readonly config?: string
  readonly version?: string
  readonly set?: readonly string[]
  readonly reset?: boolean
  readonly from?: string
  readonly to?: string
}

export type VerbCall = {
  readonly target: Target
  readonly kind: ResourceWord
  readonly names: readonly string[]
  readonly values: VerbValues
}

/** The one declaration of a verb: its arguments, options, help and what it does. */
export type Verb = {
  readonly name: string
  readonly kinds: readonly ResourceWord[]
  /** `optional`: without a name, all resources of the kind. */
  readonly takesNames: 'optional' | 'required'
  readonly about: string
  readonly options: readonly VerbOption[]
  /** Arguments after `weir`. */
  readonly examples: readonly string[]
  run(call: VerbCall): Promise<ExitCode>
}

/** The resources of a kind in the target. Loads the operator only for resources of Kubernetes, because that takes half a second. */
export async function openSource({ target, kind }: Pick<VerbCall, 'target' | 'kind'>): Promise<ResourceSource> {
  if (target.kind === 'kubernetes') {
    const { kubernetesResources } = await import('./kubernetes-resources.ts')
    return kubernetesResources(target.api, target.namespace, kind) as ResourceSource
  }
  return kind === 'connector'
    ? (workerConnectors(runtimeOf(target, 'worker', 'a connector')) as ResourceSource)
    : (registrySubjects(runtimeOf(target, 'registry', 'a subject'), target.endpoints.worker) as ResourceSource)
}

export function verbCommand(verb: Verb): Command {
  const { name, kinds, takesNames, options } = verb
  const specs = Object.fromEntries(options.map((option) => [option, VERB_OPTIONS[option].spec]))
  return {
    help: helpOf(verb),
    async run(args) {
      const { values, positionals } = parseArguments(args, { ...TARGET_OPTIONS, ...specs } as ArgumentOptions)
      const { kind, names } = parseResources(name, positionals, kinds)
      if (takesNames === 'required' && names.length === 0)
        throw new UsageError(`expected the name of a ${kind}: weir ${name} ${kind}/NAME`)
      const target = await resolveTarget(values as Parameters<typeof resolveTarget>[0])
      try {
        return await verb.run({ target, kind, names, values: values as VerbValues })
      } catch (error) {
        return await report(error, { target, kind })
      } finally {
        if (target.kind === 'kubernetes') target.api.close()
      }
    },
  }
}

function helpOf({ name, kinds, takesNames, about, options, examples }: Verb): string {
  const named = takesNames === 'optional' ? '[NAME]…' : 'NAME…'
  const usages = kinds.map((kind) => `weir ${name} ${kind}${takesNames === 'optional' ? 's' : ''} ${named}`)
  return `usage: ${usages.join('\n       ')}

${about} ${kinds.length === 1 ? `${kinds[0]}/NAME` : 'KIND/NAME'} works as well, as in kubectl.
${TARGET_HELP.replace(/^(.*)\n\n/, `$1\n\n${options.map((option) => `${VERB_OPTIONS[option].help}\n`).join('')}`)}

Exit codes: 0 done, 1 the resource does not exist or the answer is no, 2 wrong usage, 3 undecided, such as when a program does
not respond.

${examples.map((example) => `  weir ${example}`).join('\n')}`
}

async function report(error: unknown, { target, kind }: Pick<VerbCall, 'target' | 'kind'>): Promise<ExitCode> {
  if (error instanceof NotFoundError) return printError(error.message, 1)
  if (error instanceof ClusterError && target.kind === 'kubernetes') {
    const { explainApiError } = await import('./explain-api-error.ts')
    return printError(explainApiError(error, { ...target, kind }), error.code === 'unreachable' ? 3 : 1)
  }
  if (error instanceof InterruptedError) return 0
  if (error instanceof RequestError && [401, 403, 409, 422].includes(error.status) && !error.retriable)
    return printError(error.message, 1)
  return reportRequestError(error)
}

export function printError<Code extends ExitCode>(message: string, code: Code): Code {
  process.stderr.write(`weir: ${printableText(message, '\n')}\n`)
  return code
}
