import { join } from 'node:path'
import type { Part } from './part.ts'
import { type PythonPackagesAddress, pythonPackagesPart } from './python-packages.ts'

/** The tool `pre-commit`, which runs the hooks of a git repository. Takes about 5 s and 20 MB of disk space the first time. */
export function preCommitPart(name: string): Part<PythonPackagesAddress> {
  return pythonPackagesPart(name, {
    version: '4.7.0',
    variable: 'PRE_COMMIT',
    cache: 'pre-commit',
    requirements: join(import.meta.dirname, 'pre-commit.txt'),
  })
}
