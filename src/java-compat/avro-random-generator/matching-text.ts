import { type Token, types } from 'ret'
// The main module is CommonJS and exports `tokenizer` only as its default.
import { tokenizer } from 'ret/dist/tokenizer.js'
import { javaRegex } from '../java-regex.ts'
import type { Random } from './random.ts'

type TextGenerator = (random: Random) => string

/** Maximum number of repetitions beyond the minimum, for unbounded quantifiers. */
const MORE_MAX = 10
/** Characters generated where the expression permits any: printable ASCII. */
const PRINTABLE = { from: 0x20, to: 0x7e }

/**
 * Creates a generator of texts that a Java regular expression matches completely. Throws an `Error` if the expression
 * is invalid or contains lookarounds.
 */
export function matchingTextGenerator(pattern: string): TextGenerator {
  try {
    return alternatives(tokenizer(javaRegex(pattern).source))
  } catch (error) {
    throw new Error(`the expression ${pattern}: ${(error as Error).message}`, { cause: error })
  }
}

function alternatives({ stack, options }: { readonly stack?: Token[]; readonly options?: Token[][] }): TextGenerator {
  const sequences = (options ?? [stack ?? []]).map(sequence)
  const [first] = sequences
  return sequences.length === 1 ? first! : (random) => random.pick(sequences)(random)
}

/** Consecutive characters are one constant. */
function sequence(tokens: readonly Token[]): TextGenerator {
  const parts: (TextGenerator | string)[] = []
  for (const token of tokens) {
    const part = token.type === types.CHAR ? String.fromCodePoint(token.value) : generatorOf(token)
    const last = parts.at(-1)
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
    else parts.push(part)
  }
  return (random) => {
    let text = ''
    for (const part of parts) text += typeof part === 'string' ? part : part(random)
    return text
  }
}

function generatorOf(token: Token): TextGenerator {
  switch (token.type) {
    case types.CHAR:
      return constant(String.fromCodePoint(token.value))
    case types.SET:
      return oneOf(characters(token))
    case types.REPETITION: {
      const make = generatorOf(token.value)
      const most = Math.min(token.max, token.min + MORE_MAX)
      return (random) => {
        let text = ''
        for (let left = token.min + random.below(most - token.min + 1); left > 0; left--) text += make(random)
        return text
      }
    }
    case types.GROUP:
      if (token.followedBy || token.notFollowedBy || token.lookBehind) throw new Error('lookarounds are not supported')
      return alternatives(token)
    case types.POSITION:
      if (token.value === '^' || token.value === '$') return constant('')
      throw new Error(`'\\${token.value}' is not supported`)
    default:
      throw new Error('references to groups are not supported')
  }
}

type SetToken = Extract<Token, { type: types.SET }>

function characters({ set, not }: SetToken): readonly number[] {
  const named = set.flatMap((member) => {
    if (member.type === types.CHAR) return [member.value]
    return member.type === types.SET ? characters(member) : range(member)
  })
  if (!not) return named
  const left = new Set(range(PRINTABLE)).difference(new Set(named))
  return [...left]
}

function range({ from, to }: { readonly from: number; readonly to: number }): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function oneOf(codes: readonly number[]): TextGenerator {
  if (codes.length === 0) throw new Error('a character class is empty')
  const texts = codes.map((code) => String.fromCodePoint(code))
  return (random) => random.pick(texts)
}

function constant(text: string): TextGenerator {
  return () => text
}
