import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { createDirectories } from '../../common/create-directories.ts'

type Written = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

const FOLDERS: Readonly<Record<string, string>> = {
  Connector: 'connectors',
  Subject: 'subjects',
  RegistryMode: 'registry-modes',
  ConfigMap: 'config-maps',
}

/** One YAML document. Texts of several lines, such as schemas, are written as blocks. */
export function manifestText(manifest: Written): string {
  return stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false })
}

/**
 * The path of a resource in a folder of manifests. It depends on nothing but the resource, so that other resources never
 * move it: `connectors/NAME.yaml`, below a folder with the name of its namespace if it declares one.
 */
export function manifestPath({ kind, metadata: { name, namespace } }: Written): string {
  const path = join(FOLDERS[kind] ?? kind.toLowerCase(), `${name}.yaml`)
  return namespace === undefined ? path : join(namespace, path)
}

/** Writes one file for each resource. Returns the files that exist with other content; if there are any, writes nothing. */
export function writeManifests(
  folder: string,
  manifests: readonly Written[],
  { overwrite = false }: { readonly overwrite?: boolean } = {},
): readonly string[] {
  const files = manifests.map((manifest) => ({
    path: join(folder, manifestPath(manifest)),
    text: manifestText(manifest),
  }))
  const conflicts = files.filter(({ path, text }) => existsSync(path) && readFileSync(path, 'utf8') !== text)
  if (conflicts.length > 0 && !overwrite) return conflicts.map(({ path }) => path)
  for (const { path, text } of files) {
    createDirectories(dirname(path))
    writeFileSync(path, text)
  }
  return []
}
