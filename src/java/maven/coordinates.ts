import { UserError } from '../../common/errors.ts'

/** Names a file in a Maven repository. */
export type Coordinates = {
  readonly group: string
  readonly artifact: string
  readonly version: string
  /** File name extension. */
  readonly extension: string
  /** Empty for the main file. */
  readonly classifier: string
}

/** What may be part of a path: nothing that leads out of its directory. */
const PART = /^[A-Za-z0-9_](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_+-])?$/

/** Parses `GROUP:ARTIFACT:VERSION`. Throws a `UserError`. */
export function parseCoordinates(text: string): Coordinates {
  const [group = '', artifact = '', version = '', ...more] = text.split(':')
  const wrong = (why: string) => new UserError('invalid_coordinates', `'${text}' ${why}`)
  if (more.length > 0 || version === '') throw wrong('is not GROUP:ARTIFACT:VERSION')
  if (/-SNAPSHOT$|^(?:LATEST|RELEASE)$/i.test(version)) throw wrong('names a version that changes: name a release')
  const coordinates = { group, artifact, version, extension: 'jar', classifier: '' }
  const part = unsafePart(coordinates)
  if (part !== undefined) throw wrong(`has the part '${part}', which is not a Maven name`)
  return coordinates
}

/** A part that must not be used in a path; undefined if all can. */
export function unsafePart({ group, artifact, version, extension, classifier }: Coordinates): string | undefined {
  const parts = [group, artifact, version, extension, ...(classifier === '' ? [] : [classifier])]
  return parts.find((part) => !PART.test(part) || part.includes('..'))
}

export function formatCoordinates({ group, artifact, version, extension, classifier }: Coordinates): string {
  const file = classifier === '' ? (extension === 'jar' ? '' : `${extension}:`) : `${extension}:${classifier}:`
  return `${group}:${artifact}:${file}${version}`
}

export function pomOf(coordinates: Coordinates): Coordinates {
  return { ...coordinates, extension: 'pom', classifier: '' }
}

/** The path of the file in a repository. */
export function repositoryPath(coordinates: Coordinates): string {
  const { group, artifact, version } = coordinates
  return [...group.split('.'), artifact, version, fileName(coordinates)].map(encodeURIComponent).join('/')
}

export function fileName({ artifact, version, extension, classifier }: Coordinates): string {
  return `${artifact}-${version}${classifier === '' ? '' : `-${classifier}`}.${extension}`
}
