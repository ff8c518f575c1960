// Numbers of modules by their order: Lab's builder would make them from the folder that this stands in, and two
// builds of the same sources would differ.
module.exports = { optimization: { moduleIds: 'natural' } };
