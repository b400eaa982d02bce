import type { Option, OptionValue } from './proto-file.ts'
import type { Scope } from './type-table.ts'

/**
 * Normalizes options: sorts them by name, uses full names of extensions, and merges statements of the same extension.
 */
export function normalizeOptions(options: readonly Option[], scope: Scope): readonly Option[] {
  const named = options.map((option) => withFullName({ ...option, value: normalizeValue(option.value, scope) }, scope))
  named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const merged: Option[] = []
  for (const option of named) {
    const before = merged.at(-1)
    const together =
      before?.name === option.name && isSingular(option, scope) ? mergeOptions(before, option) : undefined
    if (together) merged[merged.length - 1] = together
    else merged.push(option)
  }
  return merged
}

/** `(a).b.c = 1` becomes `(full.a) = { b: { c: 1 } }`. */
function withFullName(option: Option, { types, path }: Scope): Option {
  const name = option.parenthesized ? types.extensionName(option.name, path) : undefined
  return name === undefined ? option : { ...option, name, value: asMap(option.value) }
}

function asMap(value: OptionValue): OptionValue {
  if (value.kind !== 'option') return value
  return { kind: 'map', entries: new Map([[value.option.name, asMap(value.option.value)]]) }
}

function isSingular(option: Option, { types }: Scope): boolean {
  const field = option.parenthesized ? types.extension(option.name) : undefined
  return field !== undefined && field.label !== 'repeated'
}

function mergeOptions(before: Option, after: Option): Option {
  return { ...after, value: mergeValues(before.value, after.value) }
}

function mergeValues(before: OptionValue, after: OptionValue): OptionValue {
  if (before.kind !== 'map' || after.kind !== 'map') return after
  const entries = new Map(before.entries)
  for (const [key, value] of after.entries) {
    const was = entries.get(key)
    entries.set(key, was === undefined ? value : mergeValues(was, value))
  }
  return { kind: 'map', entries: sorted(entries) }
}

function normalizeValue(value: OptionValue, scope: Scope): OptionValue {
  switch (value.kind) {
    case 'word':
      return { kind: 'word', text: decimal(value.text) }
    case 'option':
      return { kind: 'option', option: { ...value.option, value: normalizeValue(value.option.value, scope) } }
    case 'list':
      return { kind: 'list', items: value.items.map((item) => normalizeValue(item, scope)) }
    case 'map':
      return { kind: 'map', entries: sorted(value.entries, scope) }
    case 'string':
      return value
  }
}

function sorted(entries: ReadonlyMap<string, OptionValue>, scope?: Scope): ReadonlyMap<string, OptionValue> {
  const kept = [...entries].filter(([, value]) => value.kind !== 'list' || value.items.length > 0)
  const normal = kept.map(([key, value]): [string, OptionValue] =>
    scope ? [extensionKey(key, scope), single(normalizeValue(value, scope))] : [key, value],
  )
  return new Map(normal.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
}

function extensionKey(key: string, { types, path }: Scope): string {
  const full = key.startsWith('[') ? types.extensionName(key.slice(1, -1), path) : undefined
  return full === undefined ? key : `[${full}]`
}

function single(value: OptionValue): OptionValue {
  const only = value.kind === 'list' && value.items.length === 1 ? value.items[0] : undefined
  return only ?? value
}

/** Converts a number to decimal notation. Other words are unchanged. */
function decimal(text: string): string {
  if (!/^[-+]?(0[xX][0-9a-fA-F]+|\d|\.\d)/.test(text)) return text
  const value = Number(text)
  return Number.isFinite(value) && Number.isSafeInteger(Math.trunc(value)) && !/^[-+]?0\d/.test(text)
    ? String(value)
    : text
}
