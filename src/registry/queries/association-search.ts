import type { AssociationLifecycle, StoredAssociation } from '../model/association.ts'
import type { Subject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-view.ts'

export type AssociationFilter = {
  readonly resourceType?: string | undefined
  /** Empty matches every type. */
  readonly associationTypes?: readonly string[]
  readonly lifecycle?: AssociationLifecycle | undefined
}

/** Matches every name or every namespace. */
const WILDCARD = '-'

export function associationsOfSubject(view: RegistryView, subject: Subject, filter: AssociationFilter = {}) {
  return filterAssociations(view.associationsOfSubject(subject), filter)
}

export function associationsOfResource(view: RegistryView, resourceId: string, filter: AssociationFilter = {}) {
  return filterAssociations(view.associationsOfResource(resourceId), filter)
}

/** Finds associations by resource name and namespace; `-` matches any. Sorted. */
export function associationsByName(
  view: RegistryView,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  filter: AssociationFilter = {},
): readonly StoredAssociation[] {
  const matches = ({ resourceName, resourceNamespace }: StoredAssociation) =>
    (name === WILDCARD || name === resourceName) && (namespace === WILDCARD || namespace === resourceNamespace)
  return filterAssociations([...view.associations()].filter(matches), filter)
}

/** The associations of the most recently updated resource. Several resources can have had the same name. */
export function latestResource(associations: readonly StoredAssociation[]): readonly StoredAssociation[] {
  const [latest] = associations.toSorted(
    (a, b) =>
      b.updateTimestampMs - a.updateTimestampMs ||
      b.createTimestampMs - a.createTimestampMs ||
      compareText(b.resourceId, a.resourceId),
  )
  return associations.filter(({ resourceId }) => resourceId === latest?.resourceId)
}

function filterAssociations(
  associations: readonly StoredAssociation[],
  { resourceType, associationTypes = [], lifecycle }: AssociationFilter,
): readonly StoredAssociation[] {
  return associations
    .filter((one) => resourceType === undefined || one.resourceType === resourceType)
    .filter((one) => associationTypes.length === 0 || associationTypes.includes(one.associationType))
    .filter((one) => lifecycle === undefined || one.lifecycle === lifecycle)
    .toSorted(
      (a, b) =>
        compareText(a.resourceName, b.resourceName) ||
        compareText(a.resourceNamespace, b.resourceNamespace) ||
        compareText(a.resourceType, b.resourceType) ||
        compareText(a.associationType, b.associationType) ||
        compareText(a.subject, b.subject),
    )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
