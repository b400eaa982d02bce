import { existsSync } from 'node:fs'
import { binaryOf, buildGo, findGo, type GoProgram } from './go-toolchain.ts'
import type { Found, Part } from './part.ts'

/** A program that tests run. */
export type ProgramAddress = { readonly file: string }

/** Uses the file in the environment variable `variable`, or else builds it with Go: 1 to 2 min on two cores. */
export function goProgramPart(name: string, program: GoProgram, variable: string): Part<ProgramAddress> {
  return {
    name,
    version: program.version,
    async find(): Promise<Found> {
      const named = process.env[variable]
      if (named !== undefined) return { how: 'environment', detail: `${variable}=${named}`, cached: true }
      if (existsSync(binaryOf(program))) return { how: 'toolchain', detail: 'built by Go before', cached: true }
      return findGo()
    },
    async start() {
      const file = process.env[variable] ?? (existsSync(binaryOf(program)) ? binaryOf(program) : await buildGo(program))
      return { address: { file }, stop: async () => undefined }
    },
  }
}

const HELM = 'helm.sh/helm/v3'
/** Linker flags that set the Kubernetes version that Helm assumes when it renders or lints without a cluster. */
const KUBERNETES = ['chartutil', 'lint/rules'].map(
  (place) => `-X ${HELM}/pkg/${place}.k8sVersionMajor=1 -X ${HELM}/pkg/${place}.k8sVersionMinor=36`,
)

export const helm: GoProgram = {
  name: 'helm',
  version: '3.22.0',
  module: 'helm',
  package: `${HELM}/cmd/helm`,
  flags: [`-X ${HELM}/internal/version.version=v3.22.0`, ...KUBERNETES].join(' '),
}

export const kubectl: GoProgram = {
  name: 'kubectl',
  version: '1.36.3',
  module: 'kubectl',
  package: 'k8s.io/kubernetes/cmd/kubectl',
  flags: ['gitVersion=v1.36.3', 'gitMajor=1', 'gitMinor=36']
    .map((flag) => `-X k8s.io/component-base/version.${flag}`)
    .join(' '),
}
