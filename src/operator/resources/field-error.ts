import { z } from 'zod'
import { type DocumentPath, formatDocumentPath } from '../../common/document-path.ts'
import { truncateText } from '../../common/truncate-text.ts'
import { didYouMean } from '../../config/did-you-mean.ts'

/** An invalid field of a manifest or a configuration file. `path` leads to the field. */
export type FieldError = {
  readonly path: DocumentPath
  readonly message: string
  /** The key is invalid (an unknown field), not its value. */
  readonly atKey?: true
}

/** Converts a zod issue to errors for the author of the manifest. `written` has the texts of its numbers, such as `1.0`. */
export function toFieldErrors(
  issue: z.core.$ZodIssue,
  root: unknown,
  schema: z.ZodType,
  written: () => unknown = () => root,
): readonly FieldError[] {
  const path = issue.path as (string | number)[]
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(schema, path)
    return issue.keys.map((key) => {
      const meant = didYouMean(key, known)
      const hint = meant === undefined ? `known fields are ${known.join(', ')}` : `did you mean ${meant}?`
      return {
        path: [...path, key],
        message: `${formatDocumentPath([...path, key])}: unknown field; ${hint}`,
        atKey: true,
      }
    })
  }
  const value = valueAt(root, path)
  if (value === undefined && issue.code !== 'custom') {
    return [{ path, message: `${formatDocumentPath(path)} is missing${expectation(issue)}` }]
  }
  const text = typeof value === 'number' ? String(valueAt(written(), path)) : String(value)
  return [{ path, message: `${formatDocumentPath(path) || 'the resource'}: ${sentence(issue, value, text)}` }]
}

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `: expected ${article(issue.expected)}`
  if (issue.code === 'invalid_value') return `: expected one of ${issue.values.join(', ')}`
  return ''
}

function sentence(issue: z.core.$ZodIssue, value: unknown, text: string): string {
  switch (issue.code) {
    case 'invalid_type': {
      const quoting = issue.expected === 'string' && isScalar(value) ? `; put it in quotes: "${text}"` : ''
      return `expected ${article(issue.expected)}, got ${describeValue(value, text)}${quoting}`
    }
    case 'invalid_value': {
      const meant = typeof value === 'string' ? didYouMean(value, issue.values.map(String)) : undefined
      const hint = meant === undefined ? `expected one of ${issue.values.join(', ')}` : `did you mean ${meant}?`
      return `${describeValue(value, text)} is not allowed; ${hint}`
    }
    case 'too_small':
      return outOfBounds('small', 'short', `at least ${issue.minimum}`, issue.origin, value, text)
    case 'too_big':
      return outOfBounds('large', 'long', `at most ${issue.maximum}`, issue.origin, value, text)
    case 'invalid_format':
      return `${describeValue(value)} ${issue.format === 'datetime' ? 'is not a time such as 2026-11-20T10:00:00Z' : issue.message}`
    default:
      return issue.message
  }
}

function outOfBounds(
  size: string,
  length: string,
  limit: string,
  origin: string,
  value: unknown,
  text: string,
): string {
  if (origin === 'string') return `is too ${length}: ${limit} characters`
  if (origin === 'array') return `is too ${length}: ${limit} items`
  return `${describeValue(value, text)} is too ${size}: ${limit}`
}

/** The field names of the object at `path`. */
function fieldsAt(schema: z.ZodType, path: DocumentPath): readonly string[] {
  let at: z.ZodType | undefined = unwrap(schema)
  for (const part of path) {
    if (at instanceof z.ZodObject) at = unwrap(at.shape[String(part)] as z.ZodType)
    else if (at instanceof z.ZodArray) at = unwrap(at.element as z.ZodType)
    else at = undefined
  }
  if (!(at instanceof z.ZodObject)) return []
  return Object.keys(at.shape).filter((name) => !(at.shape[name]?.meta()?.['server'] === true))
}

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  let inner = schema
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) {
    inner = inner.unwrap() as z.ZodType
  }
  return inner
}

function valueAt(root: unknown, path: DocumentPath): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<string | number, unknown> | undefined)?.[part], root)
}

function article(type: string): string {
  const name = type === 'int' ? 'whole number' : type === 'record' ? 'map' : type === 'object' ? 'map' : type
  return name === 'array' ? 'a list' : `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}

/** A value inside a sentence. `text` is that of a number. */
export function describeValue(value: unknown, text = String(value)): string {
  if (value === null) return 'nothing (null)'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value === 'string') return `'${truncateText(value, 60, '…')}'`
  return `the ${typeof value} ${text}`
}

function isScalar(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean'
}
