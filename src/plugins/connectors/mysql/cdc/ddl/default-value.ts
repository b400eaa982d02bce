import { SqlSyntaxError, type SqlToken } from './sql-tokens.ts'
import type { TokenReader } from './token-reader.ts'

const CURRENT_TIMES = ['CURRENT_TIMESTAMP', 'NOW', 'LOCALTIME', 'LOCALTIMESTAMP'] as const
/** What Debezium has for the time of the insert. */
const EPOCH = '1970-01-01 00:00:00'

/** Reads a default: the text of a literal, or null for NULL and for an expression, which only the server can compute. */
export function readDefault(reader: TokenReader): string | null {
  if (reader.accept('NULL')) return null
  const current = reader.acceptOne(...CURRENT_TIMES)
  if (current !== undefined) {
    skipParentheses(reader)
    return current === 'CURRENT_TIMESTAMP' || current === 'NOW' ? EPOCH : current
  }
  if (reader.isAtSymbol('(')) {
    reader.parentheses()
    return null
  }
  const sign = reader.acceptSymbol('-') ? '-' : ''
  reader.acceptSymbol('+')
  return literalText(reader.take(), sign, reader)
}

function literalText(token: SqlToken, sign: string, reader: TokenReader): string | null {
  switch (token.kind) {
    case 'text':
    case 'number':
      return sign + token.value
    case 'bits':
      return /^[bx]'/i.test(token.raw) ? token.raw.slice(2, -1) : token.raw.slice(2)
    case 'word':
      // A text may have its character set before it.
      if (token.value.startsWith('_') && reader.next?.kind === 'text') return reader.take().value
      if (/^(?:true|false)$/i.test(token.value)) return token.value
      skipParentheses(reader)
      return null
    default:
      throw new SqlSyntaxError(`expected a default, not ${token.raw}`)
  }
}

function skipParentheses(reader: TokenReader): void {
  if (reader.isAtSymbol('(')) reader.parentheses()
}
