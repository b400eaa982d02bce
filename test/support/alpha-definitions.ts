import { parse } from 'yaml'
import { DEPRECATED_VERSIONS } from '../../src/common/resource-api.ts'
import { crdFiles } from '../../src/operator/crd-files.ts'

type Version = {
  readonly name: string
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
}

export type Definition = {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly names: { readonly plural: string }; readonly versions: readonly Version[] }
}

/** The definitions of this version. */
export function definitions(): readonly Definition[] {
  return crdFiles().map(({ text }) => parse(text) as Definition)
}

/** The definitions as they were when `v1alpha1` was the only version. */
export function alphaDefinitions(): readonly Definition[] {
  const [alpha] = DEPRECATED_VERSIONS
  return definitions().map(({ spec, ...definition }) => {
    const { deprecated, deprecationWarning, ...version } = spec.versions.find(({ name }) => name === alpha)!
    return { ...definition, spec: { ...spec, versions: [{ ...version, storage: true }] } }
  })
}
