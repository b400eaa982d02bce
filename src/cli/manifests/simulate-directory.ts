import { statSync } from 'node:fs'
import {
  manifestDirectoryOf,
  readManifestDirectory,
  type SimulatedResource,
  Simulation,
} from '../../operator/simulation.ts'
import { UsageError } from '../command.ts'
import type { CheckResult } from './check-finding.ts'
import { checkResultOf } from './check-manifests.ts'
import { readRevision } from './git-revision.ts'
import { openRuntimeSources, type SourceValues } from './runtime-sources.ts'

export type SimulatedDirectory = { readonly result: CheckResult; readonly outcomes: readonly SimulatedResource[] }

/** Applies the manifests of a directory to copies of the runtimes that the command line names. */
export async function simulateDirectory(
  root: string,
  values: SourceValues & { readonly against?: string | undefined },
): Promise<SimulatedDirectory> {
  const { against } = values
  const directory = await readManifestDirectory(root)
  const before = against === undefined ? undefined : manifestDirectoryOf(await readRevision(root, against))
  const known = before === undefined ? [directory] : [directory, before]
  if (known.every(({ resources, problems }) => resources.length + problems.length === 0)) {
    throw new UsageError(`${root} contains no manifests of Weir: give another directory`)
  }
  const sources = openRuntimeSources(values, known)
  try {
    const simulation = new Simulation(sources)
    if (before !== undefined) await simulation.apply(before)
    const outcomes = await simulation.apply(directory)
    // With an earlier revision, an empty registry is what its manifests were applied to.
    const empty = against === undefined ? sources.emptyRegistries() : []
    const notes = empty.map(
      (name) =>
        `registry ${name} counts as empty: schemas were not compared with registered ones (--registry, --snapshot or --against)`,
    )
    const invalid = before?.problems.length ?? 0
    if (invalid > 0) notes.push(`${against}: ${invalid} invalid manifests count as not applied`)
    return { outcomes, result: { ...checkResultOf(root, directory, before, outcomes), notes } }
  } finally {
    await sources.close()
  }
}

/** The DIR argument of a command on manifests. */
export function oneDirectory(command: string, [path, ...more]: readonly string[]): string {
  if (path === undefined) throw new UsageError(`expected a directory of manifests: weir ${command} DIR`)
  if (more.length > 0) throw new UsageError(`weir ${command} takes one directory: '${more[0]}' is unexpected`)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  throw new UsageError(`${path} is not a directory: weir ${command} DIR reads all manifests below DIR`)
}
