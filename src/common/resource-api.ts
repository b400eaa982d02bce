/** The group of Weir's custom resources in the Kubernetes API. */
export const API_GROUP = 'weir.dev'

/** The version of the resources that the API server stores, and that Weir reads and writes. */
export const STORED_VERSION = 'v1beta1'

/** Versions that are still served and read. They have the same fields as the stored one (docs/adr/0023). */
export const DEPRECATED_VERSIONS = ['v1alpha1'] as const

/** `apiVersion` of manifests that Weir writes. */
export const API_VERSION = `${API_GROUP}/${STORED_VERSION}`

/** `apiVersion` of manifests that Weir reads, but does not write. */
export const DEPRECATED_API_VERSIONS: readonly string[] = DEPRECATED_VERSIONS.map(
  (version) => `${API_GROUP}/${version}`,
)

/** `apiVersion` of all manifests that Weir reads, the current one first. */
export const API_VERSIONS: readonly string[] = [API_VERSION, ...DEPRECATED_API_VERSIONS]

/** What to do about a deprecated version, for the warnings of the API server and of Weir. */
export function deprecationWarning(apiVersion: string): string {
  return `${apiVersion} is deprecated: use ${API_VERSION}, which has the same fields (weir convert --in-place DIR rewrites manifests)`
}
