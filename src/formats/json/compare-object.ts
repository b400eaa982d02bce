import { compareMaximum, compareMinimum } from './compare-scalar.ts'
import { compareUnevaluated, isOpen, restSchema } from './compare-unlisted.ts'
import { type ComparisonContext, under } from './comparison-context.ts'
import type { Change } from './schema-change.ts'
import type { Model, ObjectModel } from './schema-model.ts'

export function compareObjects(walk: ComparisonContext, original: ObjectModel, update: ObjectModel): readonly Change[] {
  return [
    ...compareRequired(walk, original, update),
    ...under('properties', compareProperties(walk, original, update)),
    ...under('dependencies', compareDependencies(walk, original, update)),
    ...under('additionalProperties', compareAdditional(walk, original, update)),
    ...compareUnevaluated(
      walk,
      'unevaluatedProperties',
      original,
      update,
      'UNEVALUATED_PROPERTIES_REMOVED',
      'UNEVALUATED_PROPERTIES_NARROWED',
    ),
    ...compareMaximum(
      walk,
      'maxProperties',
      original.maxProperties,
      update.maxProperties,
      'MAX_PROPERTIES_ADDED',
      'MAX_PROPERTIES_DECREASED',
    ),
    ...compareMinimum(
      walk,
      'minProperties',
      original.minProperties,
      update.minProperties,
      'MIN_PROPERTIES_ADDED',
      'MIN_PROPERTIES_INCREASED',
    ),
  ]
}

function compareRequired(walk: ComparisonContext, original: ObjectModel, update: ObjectModel): readonly Change[] {
  return [...original.properties.keys()].flatMap((name) => {
    const now = update.properties.get(name)
    const isNew = now && update.required.has(name) && !original.required.has(name)
    return isNew && !now.hasDefault ? walk.report('REQUIRED_ATTRIBUTE_ADDED', `required/${name}`) : []
  })
}

function compareProperties(walk: ComparisonContext, original: ObjectModel, update: ObjectModel): readonly Change[] {
  return [...new Set([...original.properties.keys(), ...update.properties.keys()])].flatMap((name) =>
    under(name, compareProperty(walk, name, original, update)),
  )
}

function compareProperty(
  walk: ComparisonContext,
  name: string,
  original: ObjectModel,
  update: ObjectModel,
): readonly Change[] {
  const before = original.properties.get(name)
  const after = update.properties.get(name)
  if (before && after) return walk.compare(before, after)
  if (before) return compareRemoved(walk, name, before, update)
  return after ? compareAdded(walk, name, after, original, update) : []
}

/** Old data can contain the removed property, so the new schema's content model for unlisted properties decides. */
function compareRemoved(walk: ComparisonContext, name: string, before: Model, update: ObjectModel): readonly Change[] {
  if (isFullyOpen(update)) return []
  const cover = coverOf(update, name)
  if (cover) {
    const changes = walk.compare(before, cover)
    return changes.length === 0
      ? []
      : [...changes, ...walk.report('PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL')]
  }
  return before.kind === 'never' ? [] : walk.report('PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL')
}

/** Old data can contain any value of the added property that the old schema's content model allows. */
function compareAdded(
  walk: ComparisonContext,
  name: string,
  after: Model,
  original: ObjectModel,
  update: ObjectModel,
): readonly Change[] {
  const isRequired = update.required.has(name)
  if (isFullyOpen(original)) {
    if (after.kind === 'any') return []
    if (!isRequired) return walk.report('OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL')
    return walk.report(
      after.hasDefault
        ? 'REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL'
        : 'REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL',
    )
  }
  const cover = coverOf(original, name)
  const changes = cover ? walk.compare(cover, after) : []
  const notCovered =
    changes.length === 0 ? [] : walk.report('PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL')
  const required = isRequired && !after.hasDefault ? walk.report('REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL') : []
  return [...changes, ...notCovered, ...required]
}

function isFullyOpen(model: ObjectModel): boolean {
  return model.patterns.length === 0 && isOpen(model)
}

/** The schema for an unlisted property with this name: the first matching pattern, otherwise `restSchema`. */
function coverOf(model: ObjectModel, name: string): Model | undefined {
  return model.patterns.find(({ pattern }) => pattern.test(name))?.schema ?? restSchema(model)
}

function compareDependencies(walk: ComparisonContext, original: ObjectModel, update: ObjectModel): readonly Change[] {
  const names = [...update.requiredBy].flatMap(([name, needed]) =>
    under(name, compareNeeded(walk, original.requiredBy.get(name), needed)),
  )
  const schemas = [...update.schemaBy].flatMap(([name, schema]) => {
    const before = original.schemaBy.get(name)
    return under(name, before ? walk.compare(before, schema) : walk.report('DEPENDENCY_SCHEMA_ADDED'))
  })
  return [...names, ...schemas]
}

function compareNeeded(
  walk: ComparisonContext,
  before: ReadonlySet<string> | undefined,
  after: ReadonlySet<string>,
): readonly Change[] {
  if (!before) return walk.report('DEPENDENCY_ARRAY_ADDED')
  if (after.isSubsetOf(before)) return []
  return walk.report(after.isSupersetOf(before) ? 'DEPENDENCY_ARRAY_EXTENDED' : 'DEPENDENCY_ARRAY_CHANGED')
}

function compareAdditional(walk: ComparisonContext, original: ObjectModel, update: ObjectModel): readonly Change[] {
  const [before, after] = [original.additional, update.additional]
  if ((before?.kind === 'never') !== (after?.kind === 'never'))
    return after?.kind === 'never' ? walk.report('ADDITIONAL_PROPERTIES_REMOVED') : []
  if (before?.kind === 'never') return []
  return before === undefined && after
    ? walk.report('ADDITIONAL_PROPERTIES_NARROWED')
    : before && after
      ? walk.compare(before, after)
      : []
}
