import { stringify } from 'yaml'
import { crdName, crdOf } from './resources/custom-resource-definition.ts'
import { RESOURCE_KINDS } from './resources/resource.ts'

export type CrdFile = { readonly name: string; readonly text: string }

/** The CustomResourceDefinitions as files for `kubectl apply --server-side -f`, one for each kind. */
export function crdFiles(): readonly CrdFile[] {
  const options = { lineWidth: 0, aliasDuplicateObjects: false }
  return RESOURCE_KINDS.map((kind) => ({ name: `${crdName(kind)}.yaml`, text: stringify(crdOf(kind), options) }))
}
