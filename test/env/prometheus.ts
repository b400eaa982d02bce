import { join } from 'node:path'
import { findDebian, unpackDebian } from './debian.ts'
import type { Part } from './part.ts'

/** Programs of Prometheus. A test starts a server with its own configuration. */
export type PrometheusAddress = { readonly server: string; readonly promtool: string }

const PACKAGES = ['prometheus']

/** Prometheus of Debian's package, whose programs need no installation. */
export function prometheusPart(name: string): Part<PrometheusAddress> {
  return {
    name,
    version: 'any',
    find: () => findDebian(PACKAGES),
    async start() {
      const programs = join(await unpackDebian(PACKAGES), 'usr/bin')
      const address = { server: join(programs, 'prometheus'), promtool: join(programs, 'promtool') }
      return { address, stop: async () => undefined }
    },
  }
}
