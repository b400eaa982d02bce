import { createHash } from 'node:crypto'

/** What identifies an object: `original` is the name that its `metadata.name` is derived from. */
export type NamedObject = { readonly kind: string; readonly namespace: string | undefined; readonly original: string }

const NAME_LENGTH_MAX = 253
const HASH_LENGTH = 8

/**
 * The `metadata.name` of each object, in the same order. A name that Kubernetes accepts stays as it is. If two different
 * names become equal, each changed one gets a suffix that depends on its original only, so that names are independent
 * of the order and of the other objects' number.
 */
export function objectNamesOf(objects: readonly NamedObject[]): readonly string[] {
  const originals = new Map<string, Set<string>>()
  const keyOf = ({ kind, namespace = '', original }: NamedObject) => `${kind}/${namespace}/${objectNameOf(original)}`
  for (const object of objects) {
    const key = keyOf(object)
    originals.set(key, (originals.get(key) ?? new Set()).add(object.original))
  }
  return objects.map((object) => {
    const name = objectNameOf(object.original)
    const isShared = (originals.get(keyOf(object))?.size ?? 0) > 1
    return isShared && name !== object.original ? withHash(name, object.original) : name
  })
}

/** A name that Kubernetes accepts: labels of lower-case letters, digits and `-` between dots. */
export function objectNameOf(original: string): string {
  const name = validNameIn(original)
  return name === '' || name.length > NAME_LENGTH_MAX ? withHash(name, original) : name
}

/**
 * Like `objectNameOf`, with a hash of the identity unless the original is valid and short, so that no other original has this
 * name. `isShared`: another object may have the same original.
 */
export function uniqueObjectNameOf(
  original: string,
  {
    identity,
    lengthMax,
    isShared,
  }: { readonly identity: string; readonly lengthMax: number; readonly isShared: boolean },
): string {
  const name = validNameIn(original)
  const isUnique = name === original && name !== '' && name.length <= lengthMax && !isShared
  return isUnique ? name : withHash(name, identity, lengthMax)
}

function withHash(name: string, identity: string, lengthMax = NAME_LENGTH_MAX): string {
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, HASH_LENGTH)
  return `${validNameIn(name.slice(0, lengthMax - HASH_LENGTH - 1)) || 'unnamed'}-${hash}`
}

/** Empty if the text has no valid character. */
function validNameIn(text: string): string {
  const labels = text
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .split('.')
    .map((label) => label.replace(/^-+/, '').replace(/-+$/, ''))
  return labels.filter((label) => label !== '').join('.')
}
