import { orMeant, UsageError } from '../command.ts'

/** What the verbs work on. */
export type ResourceWord = 'connector' | 'subject'

/** The words of kubectl for a kind: singular, plural and the short name of its CustomResourceDefinition. */
const WORDS: Readonly<Record<ResourceWord, readonly string[]>> = {
  connector: ['connector', 'connectors', 'wconn'],
  subject: ['subject', 'subjects', 'wsubj'],
}

export type NamedResources = { readonly kind: ResourceWord; readonly names: readonly string[] }

/** Undefined for another word. */
export function kindOfWord(word: string): ResourceWord | undefined {
  return (Object.keys(WORDS) as ResourceWord[]).find((kind) => WORDS[kind].includes(word.toLowerCase()))
}

/** Whether the argument of a command that also takes a directory names resources. */
export function namesResource(word: string | undefined): boolean {
  return word !== undefined && kindOfWord(word.split('/', 1)[0] ?? '') !== undefined
}

/**
 * Parses `KIND [NAME…]` or `KIND/NAME…`, as kubectl does. Names are distinct. Throws a `UsageError`.
 */
export function parseResources(
  verb: string,
  [first, ...rest]: readonly string[],
  kinds: readonly ResourceWord[],
): NamedResources {
  const expected = `${kinds.join(' or ')}, such as weir ${verb} ${kinds[0]}/NAME`
  if (first === undefined) throw new UsageError(`expected ${expected}`)
  if (!first.includes('/')) return { kind: parseKind(first, kinds, expected), names: [...new Set(rest)] }
  const named = [first, ...rest].map((argument) => {
    const slash = argument.indexOf('/')
    if (slash < 0) throw new UsageError(`'${argument}' has no kind: after ${first}, expected KIND/NAME`)
    const name = argument.slice(slash + 1)
    if (name === '') throw new UsageError(`'${argument}' has no name: expected KIND/NAME`)
    return { kind: parseKind(argument.slice(0, slash), kinds, expected), name }
  })
  const { kind } = named[0]!
  const other = named.find((one) => one.kind !== kind)
  if (other !== undefined)
    throw new UsageError(`${other.kind}/${other.name}: expected resources of one kind, and ${first} is a ${kind}`)
  return { kind, names: [...new Set(named.map(({ name }) => name))] }
}

function parseKind(word: string, kinds: readonly ResourceWord[], expected: string): ResourceWord {
  const kind = kindOfWord(word)
  if (kind !== undefined && kinds.includes(kind)) return kind
  const known = kinds.flatMap((one) => WORDS[one].slice(0, 2))
  throw new UsageError(`'${word}' is not a kind of this command; ${orMeant(word, known, `expected ${expected}`)}`)
}
