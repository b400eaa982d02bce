import { openBroker } from '../../broker/open-broker.ts'
import { silentLogger } from '../../common/logging/logger.ts'
import { nearestStack, resolveTarget, TARGET_OPTIONS, type TargetValues } from '../target.ts'
import { namesResource, parseResources, type ResourceWord } from '../verbs/resource-words.ts'
import { openSource } from '../verbs/verb.ts'
import { VERBS } from '../verbs/verbs.ts'

/** The options of a target that have a value. */
const TARGET_NAMES = Object.entries(TARGET_OPTIONS).flatMap(([name, { type }]) => (type === 'string' ? [name] : []))

/** The options of a command, with what its help says of each. The help describes all of them. */
export function optionsIn(help: string): readonly (readonly [name: string, about: string])[] {
  const found = [...help.matchAll(/^ {2}(?:-\w, )?--([a-z][a-z-]*)\S*(?: [A-Z][^\s]*)* *(.*)$/gm)]
  return found.map(([, option = '', about = '']) => [option, about] as const)
}

/** The usages of a command with commands of its own, as its help describes them: `weir topic peek TOPIC …`. */
function subcommandsIn(help: string): readonly { readonly words: readonly string[]; readonly argument: string }[] {
  const found = [...help.matchAll(/^(?:usage:| {6}) weir [a-z]+ ([a-z]+(?:\|[a-z]+)*)(?: ([A-Z]+)\b)?/gm)]
  return found.map(([, words = '', argument = '']) => ({ words: words.split('|'), argument }))
}

/**
 * The words that can follow the arguments of a command, `last` being the one that is typed: kinds, names from the live system, and
 * commands of a command, which its help describes. Rejects if the system does not respond.
 */
export async function completionsOf(name: string, help: string, args: readonly string[]): Promise<readonly string[]> {
  const last = args.at(-1) ?? ''
  const before = args.slice(0, -1).filter((word, at) => !word.startsWith('-') && !isOptionValue(args, at))
  const verb = VERBS[name]
  if (verb === undefined) {
    const usages = subcommandsIn(help)
    if (before.length === 0) return [...new Set(usages.flatMap(({ words }) => words))]
    const takesTopic = usages.some(({ words, argument }) => words.includes(before[0]!) && argument === 'TOPIC')
    return takesTopic && before.length === 1 ? topicNames() : []
  }
  if (before.length === 0 && !last.includes('/')) return verb.kinds.flatMap((kind) => [kind, `${kind}s`])
  const isSlashed = (before[0] ?? last).includes('/')
  if (!namesResource(before[0] ?? last)) return []
  const { kind } = parseResources(name, [before[0] ?? `${last.split('/', 1)[0]}/x`], verb.kinds)
  const names = await resourceNames(kind, targetValues(args))
  return isSlashed ? names.map((one) => `${kind}/${one}`) : names.filter((one) => !before.includes(one))
}

async function resourceNames(kind: ResourceWord, values: TargetValues): Promise<readonly string[]> {
  const target = await resolveTarget(values)
  return (await openSource({ target, kind })).names()
}

/** Of the running `weir up`: a login to another broker takes too long. */
async function topicNames(): Promise<readonly string[]> {
  const { broker: address } = nearestStack('name a topic')
  if (address.kind !== 'process') return []
  const broker = await openBroker(address, { logger: silentLogger() })
  return broker.topics.list()
}

function isOptionValue(args: readonly string[], at: number): boolean {
  const before = args[at - 1] ?? ''
  return before === '-n' || (TARGET_NAMES.includes(before.replace(/^--/, '')) && before.startsWith('--'))
}

/** The options of the target that are typed already. The rest of the line may be incomplete, so it is not parsed strictly. */
function targetValues(args: readonly string[]): TargetValues {
  return Object.fromEntries(
    args.flatMap((word, at) => {
      const [, name = '', value] = /^--([a-z]+)(?:=(.*))?$/.exec(word) ?? []
      if (!TARGET_NAMES.includes(name)) return []
      const given = value ?? args[at + 1]
      return given === undefined ? [] : [[name, given]]
    }),
  )
}
