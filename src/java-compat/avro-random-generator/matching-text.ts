import { type Token, types } from 'ret'
// The main module is CommonJS and exports `tokenizer` only as its default.
import { tokenizer } from 'ret/dist/tokenizer.js'
import { javaRegex } from '../java-regex.ts'
import {
  alternatives,
  characterOf,
  constant,
  repetition,
  sequence,
  type TextGenerator,
  type Texts,
  toGenerator,
} from './texts.ts'

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
    return toGenerator(choiceOf(tokenizer(javaRegex(pattern).source)))
  } catch (error) {
    throw new Error(`the expression ${pattern}: ${(error as Error).message}`, { cause: error })
  }
}

function choiceOf({ stack, options }: { readonly stack?: Token[]; readonly options?: Token[][] }): Texts {
  return alternatives((options ?? [stack ?? []]).map((tokens) => sequence(tokens.map(textsOf))))
}

function textsOf(token: Token): Texts {
  switch (token.type) {
    case types.CHAR:
      return constant(String.fromCodePoint(token.value))
    case types.SET:
      return characterOf(characters(token))
    case types.REPETITION:
      return repetition(textsOf(token.value), token.min, Math.min(token.max, token.min + MORE_MAX))
    case types.GROUP:
      if (token.followedBy || token.notFollowedBy || token.lookBehind) throw new Error('lookarounds are not supported')
      return choiceOf(token)
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
