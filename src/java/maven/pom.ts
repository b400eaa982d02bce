import { DOMParser, type Element, type Node } from '@xmldom/xmldom'

/** A dependency as declared in a POM. Elements that are absent are undefined. */
export type PomDependency = {
  readonly group: string
  readonly artifact: string
  readonly version: string | undefined
  readonly type: string | undefined
  readonly classifier: string | undefined
  readonly scope: string | undefined
  readonly optional: string | undefined
  readonly exclusions: readonly Exclusion[]
}

/** `*` stands for all. */
export type Exclusion = { readonly group: string; readonly artifact: string }

/** The elements of a POM that matter for its dependencies, before inheritance and interpolation. */
export type Pom = {
  readonly group: string | undefined
  readonly artifact: string | undefined
  readonly version: string | undefined
  readonly parent: ParentPom | undefined
  readonly properties: ReadonlyMap<string, string>
  readonly managed: readonly PomDependency[]
  readonly dependencies: readonly PomDependency[]
  readonly relocation: Partial<ParentPom> | undefined
}

export type ParentPom = { readonly group: string; readonly artifact: string; readonly version: string }

/** Parses a POM. Throws an `Error` if it is not well-formed XML or not a POM. Entities of a DTD are not expanded. */
export function parsePom(bytes: Uint8Array): Pom {
  const project = parseXml(bytes).documentElement
  if (project === null || nameOf(project) !== 'project') throw new Error('its root element is not project')
  // Of a profile that is active by default, Maven adds the same elements after the main ones.
  const profiles = children(child(project, 'profiles'), 'profile').filter(isActiveByDefault)
  const parts = [project, ...profiles]
  const parent = child(project, 'parent')
  const relocation = child(child(project, 'distributionManagement'), 'relocation')
  return {
    group: text(project, 'groupId'),
    artifact: text(project, 'artifactId'),
    version: text(project, 'version'),
    parent: parent && {
      group: text(parent, 'groupId') ?? '',
      artifact: text(parent, 'artifactId') ?? '',
      version: text(parent, 'version') ?? '',
    },
    properties: new Map(
      parts.flatMap((part) =>
        children(child(part, 'properties')).map((element) => [nameOf(element), textOf(element)] as const),
      ),
    ),
    managed: parts.flatMap((part) => dependenciesOf(child(part, 'dependencyManagement'))),
    dependencies: parts.flatMap(dependenciesOf),
    relocation: relocation && {
      ...optional('group', text(relocation, 'groupId')),
      ...optional('artifact', text(relocation, 'artifactId')),
      ...optional('version', text(relocation, 'version')),
    },
  }
}

/** The released versions that a `maven-metadata.xml` lists. */
export function parseMetadataVersions(bytes: Uint8Array): readonly string[] {
  const versioning = child(parseXml(bytes).documentElement ?? undefined, 'versioning')
  return children(child(versioning, 'versions'), 'version').map(textOf)
}

function parseXml(bytes: Uint8Array) {
  const encoding = /^<\?xml[^>]*\bencoding=["']([\w-]+)["']/.exec(
    Buffer.from(bytes.subarray(0, 200)).toString('latin1'),
  )
  const decoded = decoderOf(encoding?.[1]).decode(bytes)
  // POMs use entities of HTML, which XML does not know; those are reported as errors. The parser throws fatal ones.
  const parser = new DOMParser({ onError: () => undefined })
  return parser.parseFromString(decoded, 'text/xml')
}

function decoderOf(encoding = 'utf-8'): { decode(bytes: Uint8Array): string } {
  try {
    return new TextDecoder(encoding)
  } catch {
    return new TextDecoder()
  }
}

function dependenciesOf(part: Element | undefined): readonly PomDependency[] {
  return children(child(part, 'dependencies'), 'dependency').map((dependency) => ({
    group: text(dependency, 'groupId') ?? '',
    artifact: text(dependency, 'artifactId') ?? '',
    version: text(dependency, 'version'),
    type: text(dependency, 'type'),
    classifier: text(dependency, 'classifier'),
    scope: text(dependency, 'scope'),
    optional: text(dependency, 'optional'),
    exclusions: children(child(dependency, 'exclusions'), 'exclusion').map((exclusion) => ({
      group: text(exclusion, 'groupId') ?? '*',
      artifact: text(exclusion, 'artifactId') ?? '*',
    })),
  }))
}

function isActiveByDefault(profile: Element): boolean {
  return text(child(profile, 'activation'), 'activeByDefault') === 'true'
}

function children(parent: Element | undefined, name?: string): readonly Element[] {
  const found: Element[] = []
  for (let node: Node | null = parent?.firstChild ?? null; node !== null; node = node.nextSibling) {
    if (isElement(node) && (name === undefined || nameOf(node) === name)) found.push(node)
  }
  return found
}

function isElement(node: Node): node is Element {
  return node.nodeType === 1
}

function child(parent: Element | undefined, name: string): Element | undefined {
  return children(parent, name)[0]
}

function text(parent: Element | undefined, name: string): string | undefined {
  const element = child(parent, name)
  const value = element && textOf(element)
  return value === '' ? undefined : value
}

function textOf(element: Element): string {
  return (element.textContent ?? '').trim()
}

function nameOf(element: Element): string {
  return element.localName ?? element.nodeName
}

function optional<Key extends string>(key: Key, value: string | undefined): { readonly [K in Key]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: string })
}
