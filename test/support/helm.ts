import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'
import { type Output, run } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { CHARTS } from './charts.ts'

export type Rendered = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Labels
    annotations?: Labels
  }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly data?: Readonly<Record<string, string>>
}
type Labels = Readonly<Record<string, string>>

/** APIs of other projects that the chart uses if they are served. */
const FOREIGN_APIS = ['monitoring.coreos.com/v1']

/** Runs the Helm binary `file` with a new home directory. */
export function helmAt(file: string, kubeconfig?: string) {
  const home = partDirectory('helm')
  const call = (args: readonly string[]): Promise<Output> =>
    run({
      file,
      args: [...args, ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig])],
      directory: CHARTS,
      env: { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home },
    })
  const valuesFile = (values: object): string => {
    const written = join(partDirectory('values'), 'values.yaml')
    writeFileSync(written, stringify(values))
    return written
  }
  return {
    call,
    valuesFile,
    /** Renders the chart. Rejects with Helm's error output. */
    async render(values: object, more: readonly string[] = []): Promise<readonly Rendered[]> {
      const apis = FOREIGN_APIS.flatMap((api) => ['--api-versions', api])
      const where = ['weir', 'weir', '--namespace', 'weir', '--values', valuesFile(values)]
      const { code, stdout, stderr } = await call(['template', ...where, ...apis, ...more])
      if (code !== 0) throw new Error(stderr)
      return parseAllDocuments(stdout).flatMap((document) => {
        if (document.errors.length > 0) throw document.errors[0]
        return (document.toJS() as Rendered | null) ?? []
      })
    },
  }
}

export type Helm = ReturnType<typeof helmAt>
