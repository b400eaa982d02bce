import { parse } from 'yaml'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { crdFiles } from '../../src/operator/crd-files.ts'
import type { KubeApi } from './kube-api.ts'
import { until } from './until.ts'

export const API = `/apis/${API_VERSION}`
const WAIT = { everyMs: 25, timeoutMs: 120_000 }

/** Creates the CRDs. Resolves when the API server serves all kinds. */
export async function installCrds(api: KubeApi): Promise<void> {
  for (const { text } of crdFiles()) {
    const definition = parse(text)
    await api.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    const path = `${API}/${definition.spec.names.plural}`
    await until(path, WAIT, async () => (await api.send('GET', path)).status === 200)
  }
}
