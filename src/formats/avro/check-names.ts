import { SchemaError } from '../schema-error.ts'

/** Throws a `SchemaError` unless the name is a letter of any script or `_`, followed by letters, digits and `_`. */
export function checkName(name: string): void {
  if (name === '') throw new SchemaError('Empty name')
  if (!/^[\p{L}_]/u.test(name)) throw new SchemaError(`Illegal initial character: ${name}`)
  if (!/^[\p{L}\p{Nd}_]+$/u.test(name)) throw new SchemaError(`Illegal character in: ${name}`)
}

export function checkNamespace(space: string): void {
  if (space === '') return
  for (const part of space.split('.')) {
    try {
      checkName(part)
    } catch (error) {
      throw new SchemaError(`Namespace part "${part}" is invalid: ${(error as Error).message}`, { cause: error })
    }
  }
}
