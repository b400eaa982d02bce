import { join } from 'node:path'
import type { Part } from './part.ts'
import { type PythonPackagesAddress, pythonPackagesPart } from './python-packages.ts'

/** Confluent's client for Python with its serializers, and protoc. Takes about 30 s and 90 MB of disk space the first time. */
export function pythonClientsPart(name: string): Part<PythonPackagesAddress> {
  return pythonPackagesPart(name, {
    version: '2.16.0',
    variable: 'PYTHON_CLIENTS',
    cache: 'python-clients',
    // Pinned versions of the client, the dependencies of its three serializers and of field encryption, and protoc.
    requirements: join(import.meta.dirname, 'python-clients.txt'),
    // A single Python file.
    sourceOnly: 'hkdf',
  })
}
