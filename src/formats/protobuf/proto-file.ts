/**
 * A parsed .proto file, with unresolved names and the source order of each kind. Comments are dropped, as in the
 * canonical text of Confluent's registry.
 */
export type ProtoFile = {
  readonly syntax: 'proto2' | 'proto3' | undefined
  readonly packageName: string | undefined
  readonly imports: readonly string[]
  readonly publicImports: readonly string[]
  readonly options: readonly Option[]
  readonly types: readonly TypeElement[]
  readonly extends: readonly Extend[]
  readonly services: readonly Service[]
}

/** An element whose parts are still being added. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] }

export function emptyFile(): Mutable<ProtoFile> {
  return {
    syntax: undefined,
    packageName: undefined,
    imports: [],
    publicImports: [],
    options: [],
    types: [],
    extends: [],
    services: [],
  }
}

export type TypeElement = Message | Enum

export type Message = {
  readonly kind: 'message'
  readonly name: string
  readonly reserved: readonly Ranges[]
  readonly options: readonly Option[]
  readonly fields: readonly ProtoField[]
  readonly oneofs: readonly OneOf[]
  readonly groups: readonly Group[]
  readonly extensions: readonly Extensions[]
  readonly extends: readonly Extend[]
  readonly types: readonly TypeElement[]
}

export type Label = 'optional' | 'required' | 'repeated'

export type ProtoField = {
  readonly label: Label | undefined
  /** The type as written; a map is `map<K, V>` with one space. */
  readonly type: string
  readonly name: string
  readonly tag: number
  /** The options without `default` and `json_name`. */
  readonly options: readonly Option[]
  readonly defaultValue: string | undefined
  readonly jsonName: string | undefined
}

export type OneOf = {
  readonly name: string
  readonly options: readonly Option[]
  readonly fields: readonly ProtoField[]
  readonly groups: readonly Group[]
}

export type Group = {
  readonly label: Label | undefined
  readonly name: string
  readonly tag: number
  readonly fields: readonly ProtoField[]
}

export type Enum = {
  readonly kind: 'enum'
  readonly name: string
  readonly reserved: readonly Ranges[]
  readonly options: readonly Option[]
  readonly constants: readonly EnumConstant[]
}

export type EnumConstant = { readonly name: string; readonly tag: number; readonly options: readonly Option[] }

/** Names (strings), numbers, and ranges of numbers, both ends included. */
export type Ranges = readonly (string | number | Range)[]
export type Range = { readonly from: number; readonly to: number }

export type Extensions = { readonly ranges: Ranges; readonly options: readonly Option[] }
export type Extend = {
  readonly name: string
  readonly fields: readonly ProtoField[]
  readonly groups: readonly Group[]
}

export type Service = { readonly name: string; readonly options: readonly Option[]; readonly rpcs: readonly Rpc[] }
export type Rpc = {
  readonly name: string
  readonly requestType: string
  readonly requestStreaming: boolean
  readonly responseType: string
  readonly responseStreaming: boolean
  readonly options: readonly Option[]
}

/** `name = value`. An extension has a parenthesized name. `(a).b.(c) = 1` has `b.(c) = 1` as a nested option. */
export type Option = { readonly name: string; readonly parenthesized: boolean; readonly value: OptionValue }

export type OptionValue =
  | { readonly kind: 'string'; readonly text: string }
  /** A number, a boolean or an enum constant, as written. */
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'option'; readonly option: Option }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, OptionValue> }
  | { readonly kind: 'list'; readonly items: readonly OptionValue[] }

/** The largest field number, where a range with `to max` ends. */
export const TAG_MAX = 536_870_911

/** The largest nesting of blocks, and the largest number of parts of a package name. Names are resolved through all of them. */
export const SCOPES_MAX = 100
