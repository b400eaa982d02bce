import { existsSync } from 'node:fs'
import { binaryOf, buildGo, findGo, type GoProgram } from './go-toolchain.ts'
import { KUBERNETES_MINOR, kubernetesProgram } from './kubernetes.ts'
import type { Found, Part } from './part.ts'
import { SUPPORTED_VERSIONS } from './supported-versions.ts'

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

const [HELM_VERSION] = SUPPORTED_VERSIONS.helm.tested
const HELM = 'helm.sh/helm/v3'
/** Linker flags that set the Kubernetes version that Helm assumes when it renders or lints without a cluster. */
const KUBERNETES = ['chartutil', 'lint/rules'].map(
  (place) => `-X ${HELM}/pkg/${place}.k8sVersionMajor=1 -X ${HELM}/pkg/${place}.k8sVersionMinor=${KUBERNETES_MINOR}`,
)

export const helm: GoProgram = {
  name: 'helm',
  version: HELM_VERSION,
  module: 'helm',
  package: `${HELM}/cmd/helm`,
  flags: [`-X ${HELM}/internal/version.version=v${HELM_VERSION}`, ...KUBERNETES].join(' '),
}

export const kubectl: GoProgram = { ...kubernetesProgram('kubectl'), module: 'kubectl' }

/** A server with the API of Amazon S3, whose buckets are directories. Takes three minutes to build. */
export const versitygw: GoProgram = {
  name: 'versitygw',
  version: '1.8.0',
  module: 'versitygw',
  package: 'github.com/versity/versitygw/cmd/versitygw',
}
