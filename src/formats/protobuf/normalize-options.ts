import { FieldValues, type OptionField, type OptionMessage, type Scope } from './option-types.ts'
import type { Option, OptionValue } from './proto-file.ts'

/**
 * Normalizes options: sorts them by name, uses full names of extensions, and merges the statements of one extension as a
 * compiler does: the values of a repeated field are concatenated, the fields of a message are merged.
 */
export function normalizeOptions(options: readonly Option[], scope: Scope): readonly Option[] {
  const named = options.map((option) => normalizeOption(option, scope))
  const byName = Map.groupBy(named, ({ option }) => option.name)
  return [...byName.values()]
    .map((same) => mergeOptions(same))
    .sort(([a], [b]) => compareText(a?.name ?? '', b?.name ?? ''))
    .flat()
}

function mergeOptions(same: readonly NormalOption[]): readonly Option[] {
  const options = same.map(({ option }) => option)
  const [first] = same
  const isOne = first?.field?.isRepeated === false && same.every(({ field }) => field === first.field)
  if (!isOne) return options
  return [
    {
      ...first.option,
      value: merge(
        first.field,
        options.map(({ value }) => value),
      ),
    },
  ]
}

/** `field` is what an extension is declared as; undefined for other options. */
type NormalOption = { readonly option: Option; readonly field: OptionField | undefined }

function normalizeOption(option: Option, scope: Scope): NormalOption {
  const field = option.parenthesized ? scope.optionTypes.extension(option.name, scope.path) : undefined
  if (field === undefined) return { option: { ...option, value: normalizeValue(option.value, undefined) }, field }
  const name = field.key.slice(1, -1)
  return { option: { ...option, name, value: normalizeValue(asMap(field, option.value, scope), field) }, field }
}

/** `(a).b.(c) = 1` becomes `(a) = { b: { [c]: 1 } }`. */
function asMap(field: OptionField | undefined, value: OptionValue, scope: Scope): OptionValue {
  if (value.kind !== 'option') return value
  const { name, parenthesized, value: inner } = value.option
  const next = parenthesized ? scope.optionTypes.extension(name, scope.path) : field?.message()?.field(name)
  const key = next?.key ?? (parenthesized ? `[${name}]` : name)
  return { kind: 'map', entries: new Map([[key, asMap(next, inner, scope)]]) }
}

function normalizeValue(value: OptionValue, field: OptionField | undefined): OptionValue {
  switch (value.kind) {
    case 'word':
      return { kind: 'word', text: decimalNumber(value.text) }
    case 'option':
      return { kind: 'option', option: { ...value.option, value: normalizeValue(value.option.value, undefined) } }
    case 'list':
      return single(value.items.map((item) => normalizeValue(item, field)))
    case 'map':
      return normalizeEntries(value.entries, field?.message())
    case 'string':
      return value
  }
}

function normalizeEntries(entries: ReadonlyMap<string, OptionValue>, message: OptionMessage | undefined): OptionValue {
  const normal = [...entries].map(([key, value]): [string, OptionValue] => {
    const field = message?.field(key)
    return [field?.key ?? key, normalizeValue(value, field)]
  })
  return mergeEntries(message, normal)
}

/** Merges normalized values of a field: the last one of a scalar, the fields of messages, or all values if it is repeated. */
function merge(field: OptionField | undefined, values: readonly OptionValue[]): OptionValue {
  const last = values.at(-1)
  if (last !== undefined && values.length === 1) return last
  if (field?.isRepeated !== false) return single(values.flatMap(itemsOf))
  if (last !== undefined && last.kind !== 'map') return last
  return mergeEntries(
    field.message(),
    values.flatMap((value) => (value.kind === 'map' ? [...value.entries] : [])),
  )
}

function mergeEntries(
  message: OptionMessage | undefined,
  entries: readonly (readonly [string, OptionValue])[],
): OptionValue {
  const found = new FieldValues<OptionValue>()
  for (const [key, value] of entries) {
    // An empty list is no value.
    if (value.kind !== 'list' || value.items.length > 0) found.add(key, message?.field(key), [value])
  }
  const merged = [...found.entries()].map(([key, { field, values }]): [string, OptionValue] => [
    key,
    merge(field, values),
  ])
  return { kind: 'map', entries: new Map(merged.sort(([a], [b]) => compareText(a, b))) }
}

/** One item is the same as a list of it. */
function single(items: readonly OptionValue[]): OptionValue {
  const [only] = items
  return only !== undefined && items.length === 1 ? only : { kind: 'list', items }
}

function itemsOf(value: OptionValue): readonly OptionValue[] {
  return value.kind === 'list' ? value.items : [value]
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Converts a number to decimal notation. Other words are unchanged. */
export function decimalNumber(text: string): string {
  const [, sign = '', integer, real] =
    /^(-?)(?:(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)|(\d*\.?\d+.*|\d+\..*))$/.exec(text) ?? []
  if (integer !== undefined) {
    const value = BigInt(integer.replace(/^0(?=\d)/, '0o'))
    // A negative zero is a number of its own.
    return value === 0n ? text : `${sign}${value}`
  }
  const value = Number(real)
  // A large number loses digits.
  return real === undefined || value === 0 || !Number.isSafeInteger(Math.trunc(value)) ? text : `${sign}${value}`
}
