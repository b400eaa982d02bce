import { isDeepStrictEqual } from 'node:util'
import { javaRegex } from '../../../java-compat/java-regex.ts'
import { decimalToText, field, isDecimal } from '../../../sdk/index.ts'
import { spend, withinSteps } from '../expression/step-limit.ts'
import type { JsonPath, Operand, PathCondition, PathOperator, Segment, Selector } from './json-path-syntax.ts'
import { isDefinite, parseJsonPath } from './parse-json-path.ts'

/**
 * What a path leads to: a value, or for a path that may lead to several, a list of values. `isMissing`: a field on the way
 * does not exist.
 */
export type PathResult = { readonly isMissing: true } | { readonly isMissing: false; readonly value: unknown }

/** Evaluates a path on a value of a record. Throws a `DataError` if that takes too many steps. */
export type PathEvaluator = ((root: unknown) => PathResult) & {
  /** Whether the result is a list of the values to which the path leads. */
  readonly isIndefinite: boolean
}

/** Notes on the reference page of all transforms that use JSON paths. */
export const JSON_PATH_NOTES = `
JSON paths have the syntax of Jayway's JsonPath: names, indexes, slices, \`*\`, \`..\` and filters with \`==\`, \`!=\`, \`===\`, \`!==\`, \`<\`, \`<=\`, \`>\`,
\`>=\`, \`=~\`, \`in\`, \`nin\`, \`contains\`, \`size\`, \`empty\`, \`&&\`, \`||\` and \`!\`. Functions, such as \`length()\`, and the other operators are
rejected. An evaluation that needs more than 1,000,000 steps is an error of the record; regular expressions are matched in linear time.
`

/** Configuration key for a JSON path. */
export function jsonPathField(key: string, info: field.FieldInfo) {
  return field.parsed(field.text({ nonEmpty: true, ...info }), (text) => {
    try {
      return compileJsonPath(text)
    } catch (error) {
      throw new Error(`Invalid value ${text} for configuration ${key}: ${(error as Error).message}`)
    }
  })
}

/** Throws an `Error` with the reason. */
export function compileJsonPath(text: string): PathEvaluator {
  const path = parseJsonPath(text)
  const selects = compilePath(path)
  const evaluate = (root: unknown) => withinSteps(() => resultOf(path, selects, root, root))
  return Object.assign(evaluate, { isIndefinite: !path.isDefinite })
}

/** Returns the values; undefined if something on the way is missing. */
type Select = (root: unknown, start: unknown) => readonly unknown[] | undefined

function resultOf({ isDefinite }: JsonPath, select: Select, root: unknown, start: unknown): PathResult {
  const found = select(root, start)
  if (found === undefined) return { isMissing: true }
  return { isMissing: false, value: isDefinite ? found[0] : found }
}

function compilePath({ isRoot, segments }: JsonPath): Select {
  const steps = segments.map(compileSegment)
  return (root, start) => {
    let found: readonly unknown[] = [isRoot ? root : start]
    let isSingle = true
    for (const step of steps) {
      const next = selectAll(step, found, root, isSingle)
      if (next === undefined) return undefined
      found = next
      isSingle &&= step.isSingle
    }
    return found
  }
}

/** What a step selects of these nodes; undefined if it selects nothing and `isRequired`. */
function selectAll(
  { isDeep, select }: Step,
  nodes: readonly unknown[],
  root: unknown,
  isRequired: boolean,
): readonly unknown[] | undefined {
  const all: unknown[] = []
  for (const node of nodes) {
    spend(1)
    const selected = isDeep ? descendantsOf(node).flatMap((one) => select(one, root) ?? []) : select(node, root)
    if (selected === undefined && isRequired) return undefined
    spend(selected?.length ?? 0)
    for (const one of selected ?? []) all.push(one)
  }
  return all
}

type Step = {
  readonly isDeep: boolean
  /** Whether it selects at most one value of a node. */
  readonly isSingle: boolean
  /** Undefined if the node has not what the segment selects. */
  readonly select: (node: unknown, root: unknown) => readonly unknown[] | undefined
}

function compileSegment(segment: Segment): Step {
  return { isDeep: segment.isDeep, isSingle: isDefinite(segment), select: compileSelector(segment.selector) }
}

function compileSelector(selector: Selector): Step['select'] {
  switch (selector.kind) {
    case 'names':
      return (node) => {
        const members = membersOf(node)
        if (members === undefined) return undefined
        const found = selector.names.filter((name) => members.has(name)).map((name) => members.get(name))
        return found.length === 0 && selector.names.length === 1 ? undefined : found
      }
    case 'indexes':
      return (node) => {
        if (!Array.isArray(node)) return undefined
        const places = selector.indexes.map((index) => (index < 0 ? node.length + index : index))
        const found = places.filter((place) => place in node).map((place) => node[place] as unknown)
        return found.length === 0 && places.length === 1 ? undefined : found
      }
    case 'slice':
      return (node) => (Array.isArray(node) ? node.slice(selector.from, selector.to) : undefined)
    case 'all':
      return (node) => childrenOf(node)
    case 'filter': {
      const test = compileCondition(selector.condition)
      return (node, root) => {
        if (Array.isArray(node)) return node.filter((item) => test(item, root))
        if (membersOf(node) === undefined) return undefined
        return test(node, root) ? [node] : []
      }
    }
  }
}

type Test = (item: unknown, root: unknown) => boolean

function compileCondition(condition: PathCondition): Test {
  switch (condition.kind) {
    case 'or': {
      const terms = condition.terms.map(compileCondition)
      return (item, root) => terms.some((term) => term(item, root))
    }
    case 'and': {
      const terms = condition.terms.map(compileCondition)
      return (item, root) => terms.every((term) => term(item, root))
    }
    case 'not': {
      const term = compileCondition(condition.term)
      return (item, root) => !term(item, root)
    }
    case 'exists': {
      const { path } = condition
      const select = compilePath(path)
      return (item, root) => {
        const found = select(root, item)
        return found !== undefined && (path.isDefinite || found.length > 0)
      }
    }
    case 'compare':
      return compileComparison(condition.operator, condition.left, condition.right)
  }
}

/** Stands for the value of a path that leads nowhere; it equals nothing. */
const UNDEFINED = Symbol('undefined')

function compileComparison(operator: PathOperator, left: Operand, right: Operand): Test {
  if (operator === '=~') return compileMatch(left, right)
  const [leftOf, rightOf] = [compileOperand(left), compileOperand(right)]
  const compare = COMPARISONS[operator]
  return (item, root) => {
    spend(1)
    return compare(leftOf(item, root), rightOf(item, root))
  }
}

function compileMatch(left: Operand, right: Operand): Test {
  const [regex, tested] = left.kind === 'regex' ? [left, right] : [right, left]
  if (regex.kind !== 'regex' || tested.kind === 'regex')
    throw new Error('=~ needs one regular expression between / and /')
  const pattern = javaRegex(regex.text, { whole: true })
  const operandOf = compileOperand(tested)
  return (item, root) => {
    const value = operandOf(item, root)
    if (value === UNDEFINED || value === null || typeof value === 'object') return false
    const text = String(value)
    spend(1 + text.length)
    return pattern.test(text)
  }
}

function compileOperand(operand: Operand): (item: unknown, root: unknown) => unknown {
  if (operand.kind === 'regex') throw new Error('a regular expression can only be used with =~')
  if (operand.kind === 'value') return () => operand.value
  const { path } = operand
  const select = compilePath(path)
  return (item, root) => {
    const result = resultOf(path, select, root, item)
    return result.isMissing ? UNDEFINED : comparable(result.value)
  }
}

function comparable(value: unknown): unknown {
  if (isDecimal(value)) return Number(decimalToText(value))
  if (value instanceof Date) return value.getTime()
  return value ?? null
}

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint'

/** A number equals the text of the same number, as in Jayway's JsonPath. */
function isEqual(left: unknown, right: unknown): boolean {
  if (left === UNDEFINED || right === UNDEFINED) return false
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number can be equal.
  if (isNumber(left) && isNumber(right)) return left == right
  if (isNumber(left) && typeof right === 'string') return right.trim() !== '' && Number(left) === Number(right)
  if (typeof left === 'string' && isNumber(right)) return left === String(right)
  return isDeepStrictEqual(left, right)
}

/** Undefined if the two cannot be ordered: only two numbers, or two texts, can. */
function order(left: unknown, right: unknown): number | undefined {
  const areNumbers = isNumber(left) && isNumber(right)
  if (!areNumbers && !(typeof left === 'string' && typeof right === 'string')) return undefined
  const [first, second] = [left as number, right as number]
  if (first < second) return -1
  return first > second ? 1 : 0
}

function isIn(left: unknown, right: unknown): boolean {
  return Array.isArray(right) && right.some((one) => isEqual(left, comparable(one)))
}

function lengthOf(value: unknown): number | undefined {
  return typeof value === 'string' || Array.isArray(value) ? value.length : undefined
}

function isSameType(left: unknown, right: unknown): boolean {
  return isNumber(left) ? isNumber(right) : typeof left === typeof right
}

const COMPARISONS: Readonly<Record<Exclude<PathOperator, '=~'>, (left: unknown, right: unknown) => boolean>> = {
  '==': isEqual,
  '!=': (left, right) => !isEqual(left, right),
  '===': (left, right) => isSameType(left, right) && isEqual(left, right),
  '!==': (left, right) => !(isSameType(left, right) && isEqual(left, right)),
  '<': (left, right) => order(left, right) === -1,
  '<=': (left, right) => (order(left, right) ?? 1) <= 0,
  '>': (left, right) => order(left, right) === 1,
  '>=': (left, right) => (order(left, right) ?? -1) >= 0,
  in: isIn,
  nin: (left, right) => !isIn(left, right),
  contains: (left, right) =>
    typeof left === 'string' ? typeof right === 'string' && left.includes(right) : isIn(right, left),
  size: (left, right) => lengthOf(left) !== undefined && lengthOf(left) === right,
  empty: (left, right) => lengthOf(left) !== undefined && (lengthOf(left) === 0) === right,
}

type MemberView = { has(name: string): boolean; get(name: string): unknown }

/** The members of a struct, a map or an object; undefined for other values. */
function membersOf(node: unknown): MemberView | undefined {
  if (node instanceof Map) return node as ReadonlyMap<string, unknown>
  if (typeof node !== 'object' || node === null || isLeaf(node)) return undefined
  return { has: (name) => Object.hasOwn(node, name), get: (name) => (node as Readonly<Record<string, unknown>>)[name] }
}

function isLeaf(node: object): boolean {
  return Array.isArray(node) || node instanceof Date || node instanceof Uint8Array || isDecimal(node)
}

function childrenOf(node: unknown): readonly unknown[] {
  if (Array.isArray(node)) return node
  if (node instanceof Map) return [...node.values()]
  return membersOf(node) === undefined ? [] : Object.values(node as object)
}

/** The node itself and everything in it. */
function descendantsOf(node: unknown): readonly unknown[] {
  const found: unknown[] = [node]
  for (let at = 0; at < found.length; at++) {
    const children = childrenOf(found[at])
    spend(1 + children.length)
    for (const child of children) found.push(child)
  }
  return found
}
