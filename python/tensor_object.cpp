#include <keyway/autograd/alias.h>
#include <keyway/core/base/error.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/node_binding.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/tensor_reference.h>
#include <keyway/python/tuples.h>
#include <keyway/python/wrapper_tensor.h>

#include <cstddef>
#include <memory>
#include <new>
#include <structmember.h>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {

PyTypeObject* tensor_class = nullptr;

namespace {

PyObject* as_object(TensorObject* object) { return reinterpret_cast<PyObject*>(object); }
TensorObject* as_tensor(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }

// What a tensor knows of its object. Usually the object holds the tensor. An object that has something to lose, and
// that nobody in Python holds any more while C++ holds its tensor, is held by this, until the tensor goes or comes
// back.
class ObjectTie final : public TensorExtra {
 public:
  explicit ObjectTie(TensorObject* object) : object_(object) {}
  ~ObjectTie() override {
    if (!holds_ || Py_IsInitialized() == 0) return;
    const LockHeld lock;
    Py_DECREF(as_object(object_));
  }

  // Takes over a reference of the object, which gives up the tensor. It is hidden meanwhile: the garbage collector
  // would find an object without a tensor.
  static void hold(TensorObject* object) {
    PyObject_GC_UnTrack(object);
    const Tensor tensor = std::move(object->tensor);  // goes last, and this with it if other threads were quicker
    static_cast<ObjectTie*>(tensor.impl()->binding())->holds_ = true;
  }
  TensorObject* object() const { return object_; }
  std::uint32_t& shown_references() { return shown_references_; }
  // A new reference for Python.
  nb::object take(TensorBase tensor) {
    if (!std::exchange(holds_, false)) return nb::borrow(as_object(object_));
    object_->tensor = std::move(tensor);
    PyObject_GC_Track(object_);
    return nb::steal(as_object(object_));
  }

 private:
  TensorObject* object_;
  std::uint32_t shown_references_ = 0;  // of the tensor: TensorReference's
  bool holds_ = false;
};

// An object without a tensor. The garbage collector may be run, and with it anything.
nb::object allocate(PyTypeObject* type) {
  nb::object made = checked(type->tp_alloc(type, 0));
  new (&as_tensor(made.ptr())->tensor) Tensor();
  return made;
}

// Requires: the tensor has no object, or one on its way out, whose end has made somebody ask for the tensor's: what it
// had is the new one's.
void give_object(TensorBase tensor, TensorObject* object) {
  TensorImpl& impl = *tensor.impl();
  if (TensorObject* const leaving = object_of(impl)) {
    std::swap(object->dict, leaving->dict);
    std::swap(object->hooks, leaving->hooks);
    std::swap(object->post_accumulate_hooks, leaving->post_accumulate_hooks);
  }
  object->tensor = std::move(tensor);
  impl.set_binding(std::make_unique<ObjectTie>(object));
}

bool has_object(const TensorBase& tensor) {
  TensorObject* const object = object_of(*tensor.impl());
  return object != nullptr && Py_REFCNT(as_object(object)) > 0;
}

bool has_something_to_lose(TensorObject* object) {
  return Py_TYPE(as_object(object)) != tensor_class || (object->dict != nullptr && PyDict_GET_SIZE(object->dict) > 0) ||
         object->hooks != nullptr || object->post_accumulate_hooks != nullptr;
}

// Called when Python's last reference is gone, before anything of the object is: whether it lives on, held by its
// tensor. By the time of the answer it may have lived, if so.
bool lives_on(TensorObject* object) {
  const Tensor& tensor = object->tensor;
  const bool is_held = tensor.defined() && tensor.use_count() > 1 && object_of(*tensor.impl()) == object;
  if (!is_held || !has_something_to_lose(object)) return false;
  Py_SET_REFCNT(as_object(object), 1);
  ObjectTie::hold(object);
  return true;
}

// What goes with the object may run anything, which may ask for the tensor's object: see give_object.
void free_object(TensorObject* object) {
  PyTypeObject* const type = Py_TYPE(as_object(object));
  if (object->weak_references != nullptr) PyObject_ClearWeakRefs(as_object(object));
  if (lives_on(object)) return;
  if (type != tensor_class) type->tp_clear(as_object(object));  // what stands in __slots__
  Py_CLEAR(object->dict);
  Py_CLEAR(object->hooks);
  Py_CLEAR(object->post_accumulate_hooks);
  if (object->tensor.defined() && object_of(*object->tensor.impl()) == object)
    object->tensor.impl()->set_binding(nullptr);
  object->tensor.~Tensor();
  type->tp_free(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// Of subclasses, too: see init_subclass. A chain of tensors that hold each other is freed link by link.
void dealloc_tensor(PyObject* self) {
  const bool has_end = Py_TYPE(self)->tp_finalize != nullptr && as_tensor(self)->tensor.defined();
  if (has_end && PyObject_CallFinalizerFromDealloc(self) < 0) return;
  PyObject_GC_UnTrack(self);
  if (!has_something_to_lose(as_tensor(self))) return free_object(as_tensor(self));
  Py_TRASHCAN_BEGIN(self, dealloc_tensor);
  free_object(as_tensor(self));
  Py_TRASHCAN_END;
}

// How many references of the object's tensor the garbage collector sees: the object's own, and those of
// TensorReference.
std::uint32_t known_references(TensorObject* object) {
  const Tensor& tensor = object->tensor;
  const bool is_tied = tensor.defined() && object_of(*tensor.impl()) == object;
  return is_tied ? 1 + static_cast<ObjectTie*>(tensor.impl()->binding())->shown_references() : 1;
}

// What an object whose tensor C++ holds, too, refers to is not shown: a cycle through it is not to be collected.
int traverse_tensor(PyObject* self, visitproc visit, void* arg) {
  TensorObject* const object = as_tensor(self);
  Py_VISIT(Py_TYPE(self));
  if (object->tensor.use_count() > known_references(object)) return 0;
  Py_VISIT(object->dict);
  Py_VISIT(object->hooks);
  Py_VISIT(object->post_accumulate_hooks);
  return visit_graph(object->tensor, visit, arg);
}
// The garbage collector has found that nobody reaches the object. Of a cycle through the graph, the history is a link;
// the data stays, for those who are told of the object's end. The dicts of hooks stay too: C++ counts on them.
int clear_tensor(PyObject* self) {
  TensorObject* const object = as_tensor(self);
  Py_CLEAR(object->dict);
  if (object->hooks != nullptr) PyDict_Clear(object->hooks);
  if (object->post_accumulate_hooks != nullptr) PyDict_Clear(object->post_accumulate_hooks);
  if (object->tensor.use_count() == 1) object->tensor.impl()->set_autograd_meta(nullptr);
  return 0;
}

// Whether an object of the class can stand for the memory of `data`. Throws keyway::Error if not.
void check_class(PyTypeObject* type, const Tensor& data) {
  KEYWAY_CHECK_AS(Type, find_dispatch_method(type) == nullptr,
                  "{} answers calls by __keyway_dispatch__, so that its tensors are wrapper tensors, without memory: "
                  "they are made by Tensor._make_wrapper_subclass",
                  type->tp_name);
  KEYWAY_CHECK_AS(Type, !is_wrapper(data),
                  "a {} cannot be made of a wrapper tensor, which has no memory that both could have", type->tp_name);
}

// Tensor(data), and the same of a subclass: the memory of `data`, without its history.
nb::object new_tensor(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  const bool is_one = PyTuple_GET_SIZE(arguments) == 1 && (keywords == nullptr || PyDict_GET_SIZE(keywords) == 0);
  KEYWAY_CHECK_AS(Type, is_one && is_tensor(PyTuple_GET_ITEM(arguments, 0)),
                  "{}() takes one Tensor; keyway.tensor makes one of numbers", type->tp_name);
  const Tensor& data = tensor_in(PyTuple_GET_ITEM(arguments, 0));
  check_class(type, data);
  return to_object_of(type, data.detach());
}

// The function that a class statement gives a class frees an object without asking whether it is to live on. (tp_del,
// in which that could be asked, would keep the garbage collector from every cycle with a tensor in it.)
nb::object init_subclass(PyObject* subclass, PyObject* arguments, PyObject* keywords) {
  reinterpret_cast<PyTypeObject*>(subclass)->tp_dealloc = dealloc_tensor;
  const nb::object super = checked(PyObject_CallFunctionObjArgs(
      reinterpret_cast<PyObject*>(&PySuper_Type), reinterpret_cast<PyObject*>(tensor_class), subclass, nullptr));
  return checked(PyObject_Call(super.attr("__init_subclass__").ptr(), arguments, keywords));
}

PyMethodDef tensor_methods[] = {
    {"__init_subclass__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(guarded<init_subclass>)),
     METH_CLASS | METH_VARARGS | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyMemberDef tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef tensor_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

const PyType_Slot object_slots[] = {
    type_slot<guarded<new_tensor>>(Py_tp_new),
    type_slot<dealloc_tensor>(Py_tp_dealloc),
    type_slot<traverse_tensor>(Py_tp_traverse),
    type_slot<clear_tensor>(Py_tp_clear),
    {Py_tp_methods, tensor_methods},
    {Py_tp_members, tensor_members},
    {Py_tp_getset, tensor_attributes},
    {Py_tp_doc, const_cast<char*>("An n-dimensional array of numbers of one dtype, on one device.")},
};

}  // namespace

TensorReference::TensorReference(const Tensor& tensor) : object_(to_object(tensor)) { change(1); }
TensorReference::~TensorReference() {
  if (object_.is_valid()) change(-1);
}
void TensorReference::change(int by) const {
  const Tensor& tensor = tensor_in(object_.ptr());
  static_cast<ObjectTie*>(tensor.impl()->binding())->shown_references() += static_cast<std::uint32_t>(by);
}

void add_tensor_class(nb::module_& module, std::initializer_list<std::span<const PyType_Slot>> protocols) {
  std::vector<PyType_Slot> slots(std::begin(object_slots), std::end(object_slots));
  for (const std::span<const PyType_Slot> protocol : protocols)
    slots.insert(slots.end(), protocol.begin(), protocol.end());
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"keyway.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  nb::object type = checked(PyType_FromSpec(&spec));
  tensor_class = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("Tensor") = type;
  type.attr("_make_subclass") = nb::cpp_function(
      [](nb::type_object subclass, const Tensor& data, bool requires_grad) {
        auto* const made = reinterpret_cast<PyTypeObject*>(subclass.ptr());
        KEYWAY_CHECK_AS(Type, PyType_IsSubtype(made, tensor_class), "{} is no subclass of Tensor", made->tp_name);
        check_class(made, data);
        nb::object object = to_object_of(made, data.detach());
        if (requires_grad) tensor_in(object.ptr()).requires_grad_();
        return object;
      },
      nb::arg("cls"), nb::arg("data"), nb::arg("require_grad") = false,
      "A tensor of a subclass over the memory of `data`, a leaf.");
  (void)type.release();  // as long as the program
}

TensorObject* object_of(const TensorImpl& tensor) {
  const auto* const tie = static_cast<ObjectTie*>(tensor.binding());
  return tie != nullptr ? tie->object() : nullptr;
}

nb::object to_object(TensorBase tensor) {
  if (!tensor.defined()) return nb::none();
  const auto take = [&] { return static_cast<ObjectTie*>(tensor.impl()->binding())->take(std::move(tensor)); };
  if (has_object(tensor)) return take();
  TensorObject* const leaving = object_of(*tensor.impl());
  nb::object made = allocate(leaving == nullptr ? tensor_class : Py_TYPE(as_object(leaving)));
  if (has_object(tensor)) return take();
  give_object(std::move(tensor), as_tensor(made.ptr()));
  return made;
}

nb::object to_tuple(const std::vector<Tensor>& tensors) {
  return tuple_of(tensors.size(), [&](std::size_t i) { return to_object(tensors[i]); });
}

nb::object to_object_of(PyTypeObject* subclass, const Tensor& tensor) {
  nb::object made = allocate(subclass);
  const bool is_free = tensor.impl()->binding() == nullptr;
  give_object(is_free ? TensorBase(tensor) : autograd::alias_of(tensor), as_tensor(made.ptr()));
  return made;
}

}  // namespace keyway::inline v1::python
