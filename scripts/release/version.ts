import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A version of Semantic Versioning, without build metadata. */
const VERSION = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/
const CHART = /^(?:version|appVersion| {4}version): (.+)$/gm

/** Each file that states the version of Weir. The group of the expression is the version, in all matches. */
export const VERSION_PLACES: Readonly<Record<string, RegExp>> = {
  'package.json': /^ {2}"version": "(.+)",$/gm,
  'package-lock.json': /^(?: {2}| {6})"name": "weir",\n *"version": "(.+)",$/gm,
  'src/plugins/shipped-version.ts': /^export const SHIPPED_VERSION = '(.+)'$/gm,
  Dockerfile: /^ARG VERSION=(.+)$/gm,
  'charts/weir/Chart.yaml': CHART,
  'charts/weir/charts/weir-crds/Chart.yaml': CHART,
  'docs/java-plugins.md': /\bweir:(\d\S+?)-java\b/gm,
  'examples/flux/weir.yaml': /^ {4}tag: v(.+)$/gm,
  'examples/plugin/package.json': /^ {4}"weir": "\^(.+)"$/gm,
}

/** The version in a command line, which may also be the name of a tag. Throws if it is not a version. */
export function parseVersion(text: string): string {
  const version = text.replace(/^v/, '')
  if (!VERSION.test(version)) throw new Error(`'${text}' is not a version: expected MAJOR.MINOR.PATCH, such as 0.2.0`)
  return version
}

export function tagOf(version: string): string {
  return `v${version}`
}

export function isPrerelease(version: string): boolean {
  return version.includes('-')
}

/** The versions that a file states. */
export function versionsIn(text: string, place: RegExp): readonly string[] {
  return [...text.matchAll(place)].map(([, version]) => version!)
}

/** Writes the version into all files of the checkout that state it, and as a heading into the changelog. */
export function setVersion(checkout: string, version: string, date: string): void {
  for (const [file, place] of Object.entries(VERSION_PLACES)) {
    edit(join(checkout, file), (text) => {
      if (versionsIn(text, place).length === 0)
        throw new Error(`${file} does not state the version as expected: ${place}`)
      return text.replaceAll(place, (match, old: string) => replaceLast(match, old, version))
    })
  }
  edit(join(checkout, 'CHANGELOG.md'), (text) => releaseEntries(text, version, date))
}

/** Moves the entries of *Unreleased* under a heading of the version. Throws if there are none. */
export function releaseEntries(changelog: string, version: string, date: string): string {
  if (entriesOf(changelog, version) !== undefined) return changelog
  const entries = entriesOf(changelog, 'Unreleased')
  if (entries === undefined || !/^- /m.test(entries)) throw new Error('CHANGELOG.md has no entries below Unreleased')
  const described = entries.replace(/^\S+ will be the first release\. It contains:\n\n/, '')
  return changelog.replace(/^## Unreleased\n\n[\s\S]*?(?=^## |$(?![\s\S]))/m, () => {
    return `## Unreleased\n\n## ${version} - ${date}\n\n${described}`
  })
}

/** The entries of a version, without its heading; undefined if it has no heading. */
export function entriesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^(?=## )/m)
  const section = sections.find((text) => text.startsWith(`## ${version}\n`) || text.startsWith(`## ${version} - `))
  return section?.replace(/^.*\n\n?/, '')
}

function replaceLast(text: string, old: string, replacement: string): string {
  const at = text.lastIndexOf(old)
  return text.slice(0, at) + replacement + text.slice(at + old.length)
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}
