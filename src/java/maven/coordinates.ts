import { UserError } from '../../common/errors.ts'

/** The repository of plugins for which no other is given. */
export const MAVEN_CENTRAL = 'https://repo.maven.apache.org/maven2'

/** Names a release in a Maven repository. */
export type Coordinates = { readonly group: string; readonly artifact: string; readonly version: string }

/** What may be part of a path: nothing that leads out of its directory. */
const PART = /^[A-Za-z0-9_](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_+-])?$/

/** Parses `GROUP:ARTIFACT:VERSION`. Throws a `UserError`. */
export function parseCoordinates(text: string): Coordinates {
  const [group = '', artifact = '', version = '', ...more] = text.split(':')
  const wrong = (why: string) => new UserError('invalid_coordinates', `'${text}' ${why}`)
  if (more.length > 0 || version === '') throw wrong('is not GROUP:ARTIFACT:VERSION')
  if (/-SNAPSHOT$|^(?:LATEST|RELEASE)$/i.test(version)) throw wrong('names a version that changes: name a release')
  const part = [group, artifact, version].find((one) => !PART.test(one) || one.includes('..'))
  if (part !== undefined) throw wrong(`has the part '${part}', which is not a Maven name`)
  return { group, artifact, version }
}

export function formatCoordinates({ group, artifact, version }: Coordinates): string {
  return `${group}:${artifact}:${version}`
}
