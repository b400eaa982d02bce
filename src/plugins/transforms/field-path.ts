import { ConfigError, type Field, field, type Schema, z } from '../../sdk/index.ts'
import { fieldOf, type Members, memberOf, ownMember, requireObject, requireStruct } from './struct-access.ts'

/** Field names from the outermost to the innermost; never empty. */
export type FieldPath = readonly string[]

const PURPOSE = 'nested field access'
const VERSIONS = ['V1', 'V2'] as const
export type FieldSyntaxVersion = (typeof VERSIONS)[number]

/** The configuration key `field.syntax.version`. */
export const fieldSyntaxVersion = () =>
  field
    .text({
      doc:
        'Defines the version of the syntax to access fields. If set to <code>V1</code>, then the field paths are ' +
        'limited to access the elements at the root level of the struct or map. If set to <code>V2</code>, the ' +
        'syntax will support accessing nested elements. To access nested elements, dotted notation is used. If ' +
        'dots are already included in the field name, then backtick pairs can be used to wrap field names ' +
        'containing dots. E.g. to access the subfield <code>baz</code> from a field named "foo.bar" in a ' +
        'struct/map the following format can be used to access its elements: "<code>foo.bar</code>.baz".',
      importance: 'HIGH',
    })
    .toUpperCase()
    .pipe(z.enum(VERSIONS, `String must be one of (case insensitive): ${VERSIONS.join(', ')}`))
    .default('V1')

export function fieldPath(written: string, version: FieldSyntaxVersion): FieldPath {
  return version === 'V1' ? [written] : parseFieldPath(written)
}

/**
 * Parses `a.b.c`. A name in backticks may contain dots: `` `a.b`.c ``. A backtick within a name closes it only before a
 * dot or at the end, unless a backslash precedes it. Throws a `ConfigError` if a backtick is not closed.
 */
export function parseFieldPath(path: string): FieldPath {
  const steps: string[] = []
  for (let at = 0; at < path.length; ) {
    const { step, next } = path[at] === '`' ? quotedStep(path, at) : plainStep(path, at)
    steps.push(step)
    at = next
  }
  if (path === '' || path.endsWith('.')) steps.push('')
  return steps
}

function plainStep(path: string, start: number): { step: string; next: number } {
  const dot = path.indexOf('.', start)
  const end = dot < 0 ? path.length : dot
  return { step: path.slice(start, end), next: end + 1 }
}

function quotedStep(path: string, start: number): { step: string; next: number } {
  let step = ''
  let from = start + 1
  for (let at = path.indexOf('`', from); at >= 0; at = path.indexOf('`', at + 1)) {
    const isEscaped = path[at - 1] === '\\'
    if (at === path.length - 1) {
      if (isEscaped) break
      return { step: step + path.slice(from, at), next: path.length }
    }
    if (path[at + 1] !== '.') continue
    if (!isEscaped) return { step: step + path.slice(from, at), next: at + 2 }
    step += `${path.slice(from, at - 1)}\``
    from = at + 1
  }
  const message = `Incomplete backtick pair in path: [${path}], consider adding a backslash before backtick at position ${start} to escape it`
  throw new ConfigError([{ key: 'field', message }])
}

export function fieldAt(schema: Schema, path: FieldPath): Field | undefined {
  let found: Field | undefined
  let within: Schema = schema
  for (const name of path) {
    found = fieldOf(within, name)
    if (found === undefined) return undefined
    within = found.schema
  }
  return found
}

/** Defaults are always used for intermediate structs, and for the last field if `withDefault` is set. */
export function valueAt(schema: Schema, struct: Members, path: FieldPath, withDefault: boolean): unknown {
  let within = schema
  let value: unknown = struct
  for (const [index, name] of path.entries()) {
    const one = fieldOf(within, name)
    if (one === undefined) return null
    value = memberOf(requireStruct(value, within, PURPOSE), one, withDefault || index < path.length - 1)
    if (value === null) return null
    within = one.schema
  }
  return value
}

export function memberAt(members: Members, path: FieldPath): unknown {
  let value: unknown = members
  for (const name of path) {
    if (value === null || value === undefined) return null
    value = ownMember(requireObject(value, PURPOSE), name)
  }
  return value ?? null
}
