import { join } from 'node:path'
import type { Part } from './part.ts'
import { type PythonPackagesAddress, pythonPackagesPart } from './python-packages.ts'

/** Iceberg's library for Python, which reads tables with Arrow. Takes about 30 s and 220 MB of disk space the first time. */
export function pyicebergPart(name: string): Part<PythonPackagesAddress> {
  return pythonPackagesPart(name, {
    version: '0.12.0',
    variable: 'PYICEBERG',
    cache: 'pyiceberg',
    requirements: join(import.meta.dirname, 'pyiceberg.txt'),
  })
}
